#include "experiments/metrics/steps_to.hpp"

#include "autograd/error.hpp"
#include "experiments/system/text.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace heed {

std::optional<StepsTo> steps_to(const std::string& name) {
  constexpr std::string_view word = "steps_to";
  if (!name.starts_with(word)) return std::nullopt;
  const std::string_view rest = trimmed(std::string_view(name).substr(word.size()));
  const std::size_t comma = rest.find(',');
  StepsTo out;
  if (rest.starts_with('(') && rest.ends_with(')') && comma != std::string_view::npos) {
    out.metric = trimmed(rest.substr(1, comma - 1));
    const std::string_view value = trimmed(rest.substr(comma + 1, rest.size() - comma - 2));
    const auto read = std::from_chars(value.data(), value.data() + value.size(), out.value);
    if (!out.metric.empty() && !value.empty() && read.ec == std::errc() && read.ptr == value.data() + value.size() &&
        std::isfinite(out.value))
      return out;
  }
  throw Refused(fmt::format("\"{}\" is not a metric: write the metric and the value to reach, as in "
                            "\"steps_to(val_accuracy, 0.95)\"",
                            name));
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
