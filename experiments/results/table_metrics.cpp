#include "experiments/results/table_metrics.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/results/metric_names.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace heed {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string metric_list(const ResultRuns& runs) {
  std::vector<std::string> names;
  for (const std::string& metric : runs.metrics) names.push_back(shown_text(metric));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The value of a repeatable option for a metric: of "METRIC=VALUE", or of "VALUE", which holds for all metrics.
class ByMetric {
public:
  /// Throws heed::Refused for a name that is none of the metrics, and for two values of one metric.
  ByMetric(const std::vector<std::string>& given, const ResultRequest& question, const ResultRuns& runs,
           const char* word)
      : option_(question.option(word)) {
    for (const std::string& text : given) {
      const std::size_t equals = text.rfind('=');
      const std::string metric = equals == std::string::npos ? "" : text.substr(0, equals);
      if (equals != std::string::npos && !known(metric, question, runs))
        throw Refused(fmt::format("{} {}: {} is none of the metrics; they are {}", option_, text, shown_text(metric),
                                  metric_list(runs)));
      std::string name;
      for (std::size_t m = 0; m < runs.metrics.size(); ++m)
        if (equals != std::string::npos && (metric == runs.metrics[m] || metric == question.metrics[m]))
          name = runs.metrics[m];
      if (!values_.emplace(name, equals == std::string::npos ? text : text.substr(equals + 1)).second)
        throw Refused(fmt::format("{} is given twice{}; leave one out", option_,
                                  name.empty() ? "" : fmt::format(" for {}", name)));
    }
  }

  std::optional<std::string> of(const std::string& metric) const {
    for (const std::string& name : {metric, std::string()})
      if (const auto found = values_.find(name); found != values_.end()) return found->second;
    return std::nullopt;
  }
  const std::string& option() const { return option_; }

private:
  static bool known(const std::string& metric, const ResultRequest& question, const ResultRuns& runs) {
    return std::ranges::find(runs.metrics, metric) != runs.metrics.end() ||
           std::ranges::find(question.metrics, metric) != question.metrics.end();
  }

  std::string option_;
  std::map<std::string, std::string> values_;
};

Direction direction_of(const ByMetric& given, const std::string& metric) {
  if (const auto word = given.of(metric)) {
    if (*word == "higher") return Direction::higher;
    if (*word == "lower") return Direction::lower;
    if (*word == "none") return Direction::none;
    throw Refused(fmt::format("{} {}: it must be 'higher', 'lower' or 'none'{}", given.option(), shown_text(*word),
                              did_you_mean(*word, {"higher", "lower", "none"})));
  }
  if (const auto known = direction_by_name(metric)) return *known;
  throw Refused(fmt::format("the name {} does not say whether higher or lower values are better; say it with {} "
                            "{}=higher, =lower, or =none if neither is",
                            shown_text(metric), given.option(), metric));
}

std::optional<double> bound_of(std::string_view text) {
  if (text == "inf") return infinity;
  if (text == "-inf") return -infinity;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || std::isnan(value))
    return std::nullopt;
  return value;
}

ValueRange bounds_of(const ByMetric& given, const std::string& metric, double lowest, double highest) {
  const auto text = given.of(metric);
  if (!text) return range_by_name(metric, lowest, highest);
  const std::vector<std::string> parts = parts_of(*text, ',');
  const auto low = bound_of(trimmed(parts.front())), high = bound_of(trimmed(parts.back()));
  if (parts.size() != 2 || !low || !high || !(*low < *high))
    throw Refused(fmt::format("{} {}: it must be the lowest and the highest possible value, as in 0,1 or 0,inf",
                              given.option(), shown_text(*text)));
  return {*low, *high};
}

void require_within(const ResultTable& table, const ResultRuns& runs, std::size_t m, const Metric& metric,
                    const std::string& option) {
  for (const ResultRun& run : runs.runs)
    for (const ResultValue& value : run.values[m])
      if (std::isfinite(value.value) && !metric.has(value.value))
        throw Refused(fmt::format("{}: {} is {:g}, beyond its bounds {:g} and {:g} ({})", table.place(value.line),
                                  shown_text(metric.name), value.value, metric.low, metric.high, option));
}

/// A warning if some runs end at 1 or less, and others above it, by a metric that may be in per cent.
std::string mixed_scales_in_words(const ResultTable& table, const ResultRuns& runs, std::size_t m,
                                  const std::string& option) {
  std::size_t all = 0, fractions = 0;
  const ResultValue* first = nullptr;
  for (const ResultRun& run : runs.runs) {
    if (run.values[m].empty() || !std::isfinite(run.values[m].back().value)) continue;
    const ResultValue& last = run.values[m].back();
    ++all;
    if (last.value > 1) continue;
    if (fractions++ == 0) first = &last;
  }
  if (fractions == 0 || fractions == all) return "";
  return fmt::format(
      "Two scales: {} is at most 1 in {} of {} runs (the first: {:g}, {} {}) and above 1 in the others. If "
      "the former are fractions and the latter are per cent, no number here is right; if not, say so "
      "with {} 0,100.",
      shown_name(runs.metrics[m]), fractions, all, first->value, table.counted, first->line, option);
}

/// "each run's value in results.csv, from 0 to 1 (direction and bounds by the metric's name)".
std::string meaning_of(const ResultTable& table, const ResultRuns& runs, const ValueRange& range,
                       bool direction_by_its_name, bool bounds_by_its_name) {
  std::string within;
  if (std::isfinite(range.low) && std::isfinite(range.high))
    within = fmt::format(", from {:g} to {:g}", range.low, range.high);
  else if (std::isfinite(range.low)) within = fmt::format(", at least {:g}", range.low);
  else if (std::isfinite(range.high)) within = fmt::format(", at most {:g}", range.high);
  std::vector<std::string_view> by_name;
  if (direction_by_its_name) by_name.emplace_back("direction");
  if (bounds_by_its_name && !within.empty()) by_name.emplace_back("bounds");
  return fmt::format("each run's {}value in {}{}{}", runs.has_steps ? "last " : "", table.file(), within,
                     by_name.empty() ? "" : fmt::format(" ({} by the metric's name)", fmt::join(by_name, " and ")));
}

} // namespace

std::vector<Metric> metrics_of_table(const ResultTable& table, const ResultRequest& question, const ResultRuns& runs,
                                     std::vector<std::string>& warnings) {
  const ByMetric directions(question.direction, question, runs, "direction"),
      bounds(question.bounds, question, runs, "bounds"), units(question.unit, question, runs, "unit");
  std::vector<Metric> out;
  for (std::size_t m = 0; m < runs.metrics.size(); ++m) {
    const std::string& name = runs.metrics[m];
    double lowest = infinity, highest = -infinity;
    for (const ResultRun& run : runs.runs)
      for (const ResultValue& value : run.values[m]) {
        if (!std::isfinite(value.value)) continue;
        lowest = std::min(lowest, value.value);
        highest = std::max(highest, value.value);
      }
    const bool asked = directions.of(name) || bounds.of(name) || units.of(name);
    const std::optional<Metric> known = runs.of_heed && !asked ? metric_named(Config(), name) : std::nullopt;
    if (known) {
      out.push_back(*known);
      continue;
    }
    if (name.starts_with("steps_to") && !bounds.of(name))
      throw Refused(fmt::format("{}: runs that never reached the target count as the metric's upper bound; say it with "
                                "{} 0,STEPS",
                                name, bounds.option()));
    Metric metric;
    metric.name = shown_name(name);
    metric.direction = direction_of(directions, name);
    const ValueRange range = bounds_of(bounds, name, lowest, highest);
    metric.low = range.low;
    metric.high = range.high;
    metric.unit = units.of(name).value_or("");
    metric.description = meaning_of(table, runs, range, !directions.of(name), !bounds.of(name));
    require_within(table, runs, m, metric, bounds.option());
    if (!bounds.of(name) && metric.high == 100)
      if (std::string mixed = mixed_scales_in_words(table, runs, m, bounds.option()); !mixed.empty())
        warnings.push_back(std::move(mixed));
    out.push_back(std::move(metric));
  }
  return out;
}

} // namespace heed
