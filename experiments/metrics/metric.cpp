#include "experiments/metrics/metric.hpp"

#include "autograd/error.hpp"
#include "experiments/system/text.hpp"

#include <cmath>
#include <fmt/format.h>

namespace heed {

std::string_view in_words(Direction direction) {
  switch (direction) {
    case Direction::lower: return "lower is better";
    case Direction::higher: return "higher is better";
    case Direction::none: break;
  }
  return "neither more nor less is better";
}

bool is_better(double a, double b, Direction direction) {
  switch (direction) {
    case Direction::lower: return a < b;
    case Direction::higher: return a > b;
    case Direction::none: break;
  }
  return false;
}

namespace {
std::optional<double> where_bounded(double bound) { return std::isfinite(bound) ? std::optional(bound) : std::nullopt; }
} // namespace

std::optional<double> Metric::best() const {
  return is_goal() ? where_bounded(higher_is_better() ? high : low) : std::nullopt;
}
std::optional<double> Metric::worst() const {
  return is_goal() ? where_bounded(higher_is_better() ? low : high) : std::nullopt;
}

std::string Metric::range_in_words() const {
  if (has_upper_bound())
    return std::isfinite(low) ? fmt::format("between {:g} and {:g}", low, high) : fmt::format("at most {:g}", high);
  return std::isfinite(low) ? fmt::format("at least {:g}", low) : "any number";
}

void Metric::require_margin(double margin, const std::string& given) const {
  if (has_upper_bound() && margin >= high - low)
    throw Refused(fmt::format("{} = {:g}: {} is always {}, so any two arms would be the same; take a smaller margin",
                              given, margin, name, range_in_words()));
}

void Metric::require_noninferiority(std::optional<double> margin, const std::string& given,
                                    const std::string& margin_option, const std::string& other) const {
  if (!is_goal())
    throw Refused(
        fmt::format("{}: whether an arm is not worse can't be asked by {}, because neither more nor less of it "
                    "is better; ask for \"same\", or name another metric ({})",
                    given, name, other));
  if (!margin)
    throw Refused(
        fmt::format("{}: whether an arm is not worse needs a margin, the most by which it may be worse; set {} "
                    "to a number above 0{}, or ask for \"same\"",
                    given, margin_option, unit.empty() ? "" : fmt::format(" (in {})", unit)));
}

void Metric::require_value(double value, const std::string& given) const {
  if (!has(value))
    throw Refused(fmt::format("{} = {:g}: {} is always {}; take a value in this range", given, value, name,
                              range_in_words()));
}

std::optional<StepsTo> steps_to(const std::string& name) {
  constexpr std::string_view word = "steps_to";
  if (!name.starts_with(word)) return std::nullopt;
  const std::string_view rest = trimmed(std::string_view(name).substr(word.size()));
  const std::size_t comma = rest.find(',');
  StepsTo out;
  if (rest.starts_with('(') && rest.ends_with(')') && comma != std::string_view::npos) {
    out.metric = trimmed(rest.substr(1, comma - 1));
    const auto value = number_of<double>(trimmed(rest.substr(comma + 1, rest.size() - comma - 2)));
    out.value = value.value_or(out.value);
    if (!out.metric.empty() && value && std::isfinite(*value)) return out;
  }
  throw Refused(fmt::format(
      "\"{}\" is not a metric: write the metric and the value to reach, as in \"steps_to(val_accuracy, 0.95)\"", name));
}

std::string evaluated_metric(const std::string& name) {
  const std::optional<StepsTo> goal = steps_to(name);
  return goal ? goal->metric : name;
}

bool reaches(const MetricsRecord& line, const StepsTo& goal, Direction direction) {
  const auto value = value_of(line, goal.metric);
  const Direction towards = direction == Direction::none ? Direction::higher : direction;
  return value && is_at_least(*value, goal.value, towards);
}

} // namespace heed
