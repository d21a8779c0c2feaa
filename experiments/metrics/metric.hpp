// What a metric is: all that anybody may know of one, and what is better.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

/// Which values are better. None: a measurement of which neither more nor less is better.
enum class Direction { lower, higher, none };
/// "lower is better", "higher is better", "neither more nor less is better".
std::string_view in_words(Direction direction);

struct Metric {
  std::string name; ///< "val_loss", "val_accuracy_at.64", "rank_residual.mean"
  Direction direction = Direction::lower;
  std::string unit; ///< "nats"; empty: none
  std::string description;
  double low = 0, high = std::numeric_limits<double>::infinity(); ///< no value is beyond
  std::optional<std::int64_t> length = {};                        ///< of the rows that it is of, where all have one

  /// Is there a better side?
  bool is_goal() const { return direction != Direction::none; }
  bool higher_is_better() const { return direction == Direction::higher; }
  bool has_upper_bound() const { return high < std::numeric_limits<double>::infinity(); } ///< is `high` finite?
  bool has(double value) const { return value >= low && value <= high; }
  /// The best and the worst value that there can be; none where that side has no bound, and where none is better.
  std::optional<double> best() const;
  std::optional<double> worst() const;
};

/// Is a better than b? In C++, this decides it for all rooms but statistics/, which is told which side is better. Nothing
/// is better where there is no better side.
bool is_better(double a, double b, Direction direction);
/// Is a better than b, or equal to it?
inline bool is_at_least(double a, double b, Direction direction) { return a == b || is_better(a, b, direction); }
/// Does a difference of this sign make better?
inline bool improves(double difference, Direction direction) { return is_better(difference, 0, direction); }
/// The worst value of all, for what has none: infinity of the worse sign.
inline double worst_of_all(Direction direction) {
  return (direction == Direction::higher ? -1 : 1) * std::numeric_limits<double>::infinity();
}

} // namespace heed
