// The metrics of a table of results: what their names and the question say about them: which values are better, and
// which are possible.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/results/result_runs.hpp"
#include "experiments/results/result_table.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// What each metric is, as far as the table and the options say it. Metrics of Heed's own runs are known. Throws
/// heed::Refused for a direction that is not known, and for values beyond the bounds. Adds to `warnings` what a reader
/// must know: a share of which some values seem to be fractions and others per cent.
std::vector<Metric> metrics_of_table(const ResultTable& table, const ResultRequest& question, const ResultRuns& runs,
                                     std::vector<std::string>& warnings);

/// "val/accuracy" and "macroF1": higher; "eval_loss" and "WER": lower. Empty if the name has no such word, or words of
/// both kinds.
std::optional<Direction> direction_by_name(std::string_view metric);

/// The range of possible values.
struct ValueRange {
  double low, high;
};

/// The range of a metric by its name and by the observed values, which are within it: 0 to 1 or 0 to 100 for shares and
/// scores such as accuracy, F1 and BLEU; at least 0 for losses and errors, and at least 1 for perplexities. Infinite if
/// nothing is known.
ValueRange range_by_name(std::string_view metric, double lowest, double highest);

} // namespace heed
