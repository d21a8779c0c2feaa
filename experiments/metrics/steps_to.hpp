// steps_to(METRIC, VALUE): how fast a run gets to a value, as a metric of its own.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/metrics/record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// "steps_to(val_accuracy, 0.95)", which [report] metric and also may name.
struct StepsTo {
  std::string metric; ///< val_accuracy
  double value = 0;   ///< 0.95
  bool operator==(const StepsTo&) const = default;
};

/// What a metric's name says; none: it is not of this form. Throws heed::Refused where it begins with steps_to and goes on
/// otherwise.
std::optional<StepsTo> steps_to(const std::string& name);

/// The metric that evaluations have: METRIC of steps_to(METRIC, VALUE), any other name itself.
std::string evaluated_metric(const std::string& name);

/// Has this line's metric the value or a better one? Where neither side is better, more is. What is not a number passes
/// nothing.
bool reaches(const MetricsRecord& line, const StepsTo& goal, Direction direction);

} // namespace heed
