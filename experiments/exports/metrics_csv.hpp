// A run's metrics as comma-separated values.
#pragma once

#include "experiments/metrics/record.hpp"

#include <functional>
#include <string_view>

namespace heed {

/// Calls a function with each line of a run's metrics, in order.
using EachMetrics = std::function<void(const std::function<void(const MetricsRecord&)>&)>;

/// A row a line of metrics.jsonl, the columns step, seconds, tokens, and every metric in the order in which they first
/// occur. A cell is empty where the line doesn't have the metric. The lines are gone through twice, and handed to `write` as
/// they come; a metric that occurs only the second time, since the run goes on meanwhile, has no column.
void metrics_csv(const EachMetrics& each, const std::function<void(std::string_view)>& write);

} // namespace heed
