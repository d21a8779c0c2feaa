// One answer over all groups of a report, which are called tasks here ([report] over): rows "all", their sentences, and
// performance profiles.
#pragma once

#include "experiments/report/document.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/report_data.hpp"

#include <boost/json/value.hpp>
#include <string>
#include <vector>

namespace heed {

/// Fills in `overall`, and what `over` says of it, from the runs and the comparisons of the arms. An arm that lacks a
/// task has no row. p of the rows "all" is corrected over them only.
void answer_over_tasks(ReportData& report);

/// "Over these 5 tasks, gated is better: 0.012 higher [0.004, 0.020], p = 0.016, 8 seeds. Better in 4 of 5 tasks."
/// The last sentence counts the tasks in which the arm's own answer is that.
/// @param overall  ReportData::overall
/// @param digits   of its table
std::string sentence_over_tasks(const ReportData& overall, const ReportArm& arm, const TableDigits& digits);
/// Of all arms; empty without [report] over.
std::vector<std::string> sentences_over_tasks(const ReportData& report);

/// What the rows "all" are and how they are made; empty without [report] over.
std::string over_tasks_note(const ReportData& report);
/// The arms without a row "all", and why; empty for none.
std::string lacking_tasks_note(const ReportData& report);

/// Performance profiles: for each threshold, the share of an arm's runs that are better. Without series below 8 runs a
/// task.
document::Figure profile_figure(const ReportData& report);

/// For programs: the tasks, and each arm's results over them.
boost::json::value over_tasks_json(const ReportData& report);

} // namespace heed
