// The metrics of a table of results: what their names and the question say about them.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/results/result_question.hpp"
#include "experiments/results/result_runs.hpp"
#include "experiments/results/result_table.hpp"

#include <vector>

namespace heed {

/// What each metric is, as far as the table and the options say it. Metrics of Heed's own runs are known. Throws
/// heed::Refused for a direction that is not known, and for values beyond the bounds.
std::vector<Metric> metrics_of_table(const ResultTable& table, const ResultQuestion& question, const ResultRuns& runs);

} // namespace heed
