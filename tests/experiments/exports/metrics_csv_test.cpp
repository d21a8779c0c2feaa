#include "experiments/exports/export.hpp"
#include "tests/catch.hpp"

#include <limits>

using namespace heed;

namespace {

std::string csv_of(const std::vector<MetricsRecord>& metrics) {
  std::string out;
  metrics_csv(
      [&](const auto& use) {
        for (const MetricsRecord& line : metrics) use(line);
      },
      [&](std::string_view text) { out += text; });
  return out;
}

} // namespace

TEST_CASE("metrics are a table with a column for every metric that occurs", "[exports][csv]") {
  const std::vector<MetricsRecord> metrics{{10, 0.5, 320, {{"train_loss", 1.25}, {"learning_rate", 0.001}}},
                                           {10, 0.75, 320, {{"val_loss", std::numeric_limits<double>::quiet_NaN()}}},
                                           {20, 1.5, 640, {{"train_loss", 1.0 / 3}}}};
  CHECK(csv_of(metrics) == "step,seconds,tokens,train_loss,learning_rate,val_loss\n"
                           "10,0.5,320,1.25,0.001,\n"
                           "10,0.75,320,,,nan\n"
                           "20,1.5,640,0.3333333333333333,,\n");
  CHECK(csv_of({}) == "step,seconds,tokens\n");
}
