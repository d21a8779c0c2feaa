// The metric steps_to(METRIC, VALUE): the number of steps until a run reaches a value.
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

/// Parses a metric's name; empty if it has another form. Throws heed::Refused if it begins with steps_to but does not
/// have this form.
std::optional<StepsTo> steps_to(const std::string& name);

/// The evaluated metric: METRIC for steps_to(METRIC, VALUE), any other name itself.
std::string evaluated_metric(const std::string& name);

/// Whether the record's metric has the value or a better one. If no direction is better, higher values count. NaN
/// reaches no value.
bool reaches(const MetricsRecord& line, const StepsTo& goal, Direction direction);

} // namespace heed
