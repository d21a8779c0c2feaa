// The properties of a metric (name, direction, unit, range), comparisons of values by its direction, and the metric
// steps_to(METRIC, VALUE): the number of steps until a run reaches a value.
#pragma once

#include "experiments/metrics/record.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

/// Which values are better. none: a measurement without a better direction.
enum class Direction { lower, higher, none };
/// "lower is better", "higher is better", "neither more nor less is better".
std::string_view in_words(Direction direction);

struct Metric {
  std::string name; ///< "val_loss", "val_accuracy_at.64", "rank_residual.mean"
  Direction direction = Direction::lower;
  std::string unit; ///< "nats"; empty: none
  std::string description;
  double low = 0, high = std::numeric_limits<double>::infinity(); ///< range of possible values
  std::optional<std::int64_t> length = {}; ///< length of the measured sequences, if all have the same
  std::string label = {};                  ///< what reports call it; empty: its name

  /// What reports call it.
  const std::string& shown() const { return label.empty() ? name : label; }

  /// Whether one direction is better.
  bool is_goal() const { return direction != Direction::none; }
  bool higher_is_better() const { return direction == Direction::higher; }
  bool has_upper_bound() const { return high < std::numeric_limits<double>::infinity(); } ///< whether `high` is finite
  bool has(double value) const { return value >= low && value <= high; }
  /// The best and the worst possible value; empty if this side has no bound, and if no direction is better.
  std::optional<double> best() const;
  std::optional<double> worst() const;

  /// "between 0 and 1", "at least 0", "any number".
  std::string range_in_words() const;
  /// Throws heed::Refused, with `given` ("report.margin") in front, for a margin that no difference of two values
  /// exceeds: any two arms would be the same. `margin` is above 0.
  void require_margin(double margin, const std::string& given) const;
  /// Throws heed::Refused, with `given` ("report.answer") in front, if whether arms are not worse can't be asked:
  /// without a margin, or if no direction is better.
  /// @param margin_option, other  the options that mend it: "report.margin", "report.metric"
  void require_noninferiority(std::optional<double> margin, const std::string& given, const std::string& margin_option,
                              const std::string& other) const;
  /// Throws heed::Refused, with `given` in front, for a value that the metric cannot have.
  void require_value(double value, const std::string& given) const;
};

/// Whether a is better than b; false if no direction is better. All C++ modules use this function, except statistics/,
/// which receives the direction as an argument.
bool is_better(double a, double b, Direction direction);
/// Whether a is better than b or equal to it.
inline bool is_at_least(double a, double b, Direction direction) { return a == b || is_better(a, b, direction); }
/// Whether a difference of this sign is an improvement.
inline bool improves(double difference, Direction direction) { return is_better(difference, 0, direction); }
/// A value worse than all others, for missing results: infinity of the worse sign.
inline double worst_of_all(Direction direction) {
  return (direction == Direction::higher ? -1 : 1) * std::numeric_limits<double>::infinity();
}

/// "steps_to(val_accuracy, 0.95)", which [report] metric and also may name.
struct StepsTo {
  std::string metric; ///< val_accuracy
  double value = 0;   ///< 0.95
  bool operator==(const StepsTo&) const = default;
};

/// Parses a metric's name; empty if it has another form. Throws heed::Refused if it begins with steps_to but does not
/// have this form.
std::optional<StepsTo> steps_to(const std::string& name);

/// The evaluated metric: METRIC for steps_to(METRIC, VALUE), any other name itself.
std::string evaluated_metric(const std::string& name);

/// Whether the record's metric has the value or a better one. If no direction is better, higher values count. NaN
/// reaches no value.
bool reaches(const MetricsRecord& line, const StepsTo& goal, Direction direction);

} // namespace heed
