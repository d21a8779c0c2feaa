#include "experiments/report/measured.hpp"

#include "experiments/report/numbers.hpp"
#include "experiments/statistics/summary.hpp"

#include <cmath>
#include <fmt/format.h>

namespace heed {
namespace {

template <class ValueOf> Measured measured(const ReportData& report, const Metric& metric, const ValueOf& value_of) {
  std::vector<double> values;
  for (const ReportRun& run : report.arms.front().runs)
    if (const std::optional<double> value = value_of(run); value && std::isfinite(*value)) values.push_back(*value);
  Measured out{metric, values.size(), {}, {}};
  if (values.empty()) return out;
  out.mean = statistics::mean(values);
  out.standard_deviation = statistics::standard_deviation(values);
  return out;
}

} // namespace

std::string Measured::text() const {
  if (!standard_deviation) return fixed(mean, decimals_for({mean.value_or(0) / 100})); // four significant digits
  const int decimals = decimals_for({*standard_deviation});
  return fmt::format("{} ± {}", fixed(mean, decimals), fixed(standard_deviation, decimals));
}

std::vector<Measured> measured_values(const ReportData& report) {
  std::vector<Measured> out;
  if (report.arms.size() != 1) return out;
  const auto add = [&](const Metric& metric, const auto& value_of) {
    if (Measured of = measured(report, metric, value_of); of.n > 0) out.push_back(std::move(of));
  };
  const auto at = [](const std::vector<std::optional<double>>& values, std::size_t i) {
    return i < values.size() ? values[i] : std::nullopt;
  };
  add(report.metric, [](const ReportRun& run) { return run.value; });
  for (std::size_t i = 0; i < report.also.size(); ++i)
    add(report.also[i], [&](const ReportRun& run) { return at(run.also, i); });
  for (std::size_t i = 0; i < report.others.size(); ++i)
    add(report.others[i], [&](const ReportRun& run) { return at(run.others, i); });
  return out;
}

} // namespace heed
