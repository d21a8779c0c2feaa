#include "experiments/metrics/metric.hpp"

#include <cmath>

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

} // namespace heed
