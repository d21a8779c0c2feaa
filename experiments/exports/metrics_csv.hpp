// Exports a run's metrics as comma-separated values (CSV).
#pragma once

#include "experiments/metrics/record.hpp"

#include <functional>
#include <string_view>

namespace heed {

/// Calls a function with each line of a run's metrics, in order.
using EachMetrics = std::function<void(const std::function<void(const MetricsRecord&)>&)>;

/// Writes one row for each line of metrics.jsonl. The columns are step, seconds, tokens, and every metric in the order
/// of first occurrence. A cell is empty if the line does not have the metric. The lines are read twice and written one
/// by one. If the run is still being executed, a metric that first occurs in the second reading has no column.
void metrics_csv(const EachMetrics& each, const std::function<void(std::string_view)>& write);

} // namespace heed
