// A run's metrics as comma-separated values.
#pragma once

#include "experiments/training/training.hpp"

#include <string>
#include <vector>

namespace heed {

/// A row a line of metrics.jsonl, the columns step, seconds, tokens, and every metric in the order in which they first
/// occur. A cell is empty where the line doesn't have the metric.
std::string metrics_csv(const std::vector<Metrics>& metrics);

} // namespace heed
