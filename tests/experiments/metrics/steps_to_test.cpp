// Tests of the metric steps_to(METRIC, VALUE): the first step at which a run reaches a target value.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/plan_checks.hpp"
#include "experiments/sweep/preparation.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/sweep/plan_support.hpp"

#include <limits>
#include <string>
#include <vector>

using namespace heed;
using Catch::Contains;

namespace {

std::vector<MetricsRecord> accuracies(const std::vector<double>& values) {
  std::vector<MetricsRecord> out;
  std::int64_t step = 0;
  for (const double value : values) {
    MetricsRecord line;
    line.step = step += 10;
    line.values = {{"train_loss", 0.5}, {"val_accuracy", value}};
    out.push_back(line);
  }
  return out;
}

/// The step of the first record that reaches the target.
std::optional<std::int64_t> first_step(const std::vector<MetricsRecord>& lines, const StepsTo& goal,
                                       Direction direction) {
  for (const MetricsRecord& line : lines)
    if (reaches(line, goal, direction)) return line.step;
  return std::nullopt;
}

} // namespace

TEST_CASE("a metric's name says which metric is to get to which value", "[sweep][steps_to]") {
  CHECK(steps_to("val_accuracy") == std::nullopt);
  CHECK(steps_to("steps_to(val_accuracy, 0.95)") == StepsTo{"val_accuracy", 0.95});
  CHECK(steps_to("steps_to( val_loss,-1e-3 )") == StepsTo{"val_loss", -1e-3});
  CHECK(evaluated_metric("steps_to(val_loss, 1)") == "val_loss");
  CHECK(evaluated_metric("val_loss") == "val_loss");
  for (const char* wrong : {"steps_to", "steps_to()", "steps_to(val_loss)", "steps_to(val_loss, )", "steps_to(, 1)",
                            "steps_to(val_loss, x)", "steps_to(val_loss, 1", "steps_tot(a, 1)",
                            "steps_to(val_loss, 1, 2)", "steps_to(val_loss, nan)", "steps_to(val_loss, inf)"}) {
    INFO(wrong);
    CHECK_THROWS_WITH(steps_to(wrong), Contains("as in \"steps_to(val_accuracy, 0.95)\""));
  }
}

TEST_CASE("the first evaluation that has the value counts, not those after it", "[sweep][steps_to]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const StepsTo goal{"val_accuracy", 0.9};
  CHECK(first_step(accuracies({0.1, 0.5, 0.95, 0.2}), goal, Direction::higher) == 30);
  CHECK(first_step(accuracies({0.9}), goal, Direction::higher) == 10);
  CHECK(first_step(accuracies({0.1, 0.899999}), goal, Direction::higher) == std::nullopt);
  CHECK(first_step(accuracies({nan, 0.2, nan, 0.91}), goal, Direction::higher) == 40);
  CHECK(first_step(accuracies({nan, nan}), goal, Direction::higher) == std::nullopt);
  CHECK(first_step(accuracies({}), goal, Direction::higher) == std::nullopt);
  CHECK(first_step(accuracies({2.0, 0.9, 0.1}), goal, Direction::lower) == 20); // lower is better
  CHECK(first_step(accuracies({0.1}), {"val_loss", 0.9}, Direction::higher) == std::nullopt);
  // A record without an evaluation does not count.
  std::vector<MetricsRecord> lines = accuracies({0.1, 0.95});
  lines[1].values.pop_back();
  CHECK(first_step(lines, goal, Direction::higher) == std::nullopt);
}

TEST_CASE("how fast is a metric in steps, with an end beyond the last step", "[sweep][steps_to]") {
  const Config every_ten = config_from("train.steps = 200\ntrain.evaluate_every = 10\n");
  const Metric metric = metric_of(every_ten, "steps_to(val_accuracy, 0.95)");
  CHECK(metric.unit == "steps");
  CHECK(metric.direction == Direction::lower);
  CHECK(metric.low == 0);
  CHECK(metric.high == 210);
  CHECK_THAT(metric.description, Contains("val_accuracy is 0.95 or more"));
  CHECK_THAT(metric_of(every_ten, "steps_to(val_loss, 0.1)").description, Contains("val_loss is 0.1 or less"));
  CHECK_THROWS_WITH(metric_of(every_ten, "steps_to(val_acuracy, 1)", "report.also"),
                    Contains("report.also: \"val_acuracy\" is not measured here") && Contains("nearest: val_accuracy"));
  const Config lengths = config_from("train.evaluate_every = 10\ntrain.evaluate_lengths = [8, 64]\n");
  CHECK(metric_of(lengths, "steps_to(val_accuracy_at.64, 0.9)").unit == "steps");
  CHECK(metric_of(lengths, "val_loss_at.64").unit == "nats");
  CHECK_THROWS_WITH(metric_of(lengths, "val_accuracy_at.65"), Contains("nearest: val_accuracy_at.64"));
  CHECK_THROWS_WITH(metric_of(every_ten, "steps_to(time_per_token, 1)"), Contains("is measured only at the end"));
  CHECK_THROWS_WITH(metric_of(every_ten, "steps_to(val_loss; 1)"), Contains("report.metric: "));
  CHECK_THROWS_WITH(metric_of(config_from("train.steps = 200\n"), "steps_to(val_loss, 1)"),
                    Contains("set train.evaluate_every"));
  CHECK_THROWS_WITH(metric_of(every_ten, "val_los"), Contains("steps_to(METRIC, VALUE)"));
}

TEST_CASE("tuning does not choose by how fast a run is", "[sweep][steps_to]") {
  const std::string text = "train.evaluate_every = 5\n[report]\nmetric = \"steps_to(val_loss, 1)\"\n[sweep]\nseeds = "
                           "[0, 1]\n[sweep.tune]\nseeds = [8]\ngrid = { \"train.learning_rate\" = [0.1, 0.2] }\n";
  CHECK_THROWS_WITH(make_plan(
                        Settings::parse(text, "test.toml"), [](const Config&) { return "data"; }, "test"),
                    Contains("report.metric: [sweep.tune] chooses by a metric's value at the end"));
}
