// Comma-separated values (RFC 4180, with newlines instead of carriage returns and newlines).
#pragma once

#include "experiments/training/training.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A cell; within quotes where it needs them.
std::string csv_cell(std::string_view text);
/// Cells with commas between, and a newline.
std::string csv_line(const std::vector<std::string>& cells);
/// The shortest text that reads back as the same number; "nan" and "inf" where it isn't finite.
std::string csv_number(double value);

/// A run's metrics: a row a line of metrics.jsonl, the columns step, seconds, tokens, and every metric in the order in
/// which they first occur. A cell is empty where the line doesn't have the metric.
std::string metrics_csv(const std::vector<Metrics>& metrics);

} // namespace heed
