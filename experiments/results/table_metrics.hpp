// The metrics of a table of results: what their names and the question say about them.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/results/result_request.hpp"
#include "experiments/results/result_runs.hpp"
#include "experiments/results/result_table.hpp"

#include <string>
#include <vector>

namespace heed {

/// What each metric is, as far as the table and the options say it. Metrics of Heed's own runs are known. Throws
/// heed::Refused for a direction that is not known, and for values beyond the bounds. Adds to `warnings` what a reader
/// must know: a share of which some values seem to be fractions and others per cent.
std::vector<Metric> metrics_of_table(const ResultTable& table, const ResultRequest& question, const ResultRuns& runs,
                                     std::vector<std::string>& warnings);

} // namespace heed
