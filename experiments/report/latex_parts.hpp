// The parts of a LaTeX report (table, forest plot, curves) and their common helper functions.
#pragma once

#include "experiments/report/report_data.hpp"

#include <string>
#include <vector>

namespace heed {

/// The table of a metric: with the notes on its columns, or with a reference to the table that has them.
std::string latex_table(const ReportData& report, bool with_notes);
/// Of a report with one arm: all that its runs measured.
std::string latex_single(const ReportData& report);
/// A forest plot: each arm's difference from its reference with its interval. Empty without comparisons.
std::string latex_forest(const ReportData& report);
/// Learning curves, accuracies by the rows' own lengths, and the metric at each of [train] evaluate_lengths; one figure
/// for each group. Empty if there are none.
std::string latex_curves(const ReportData& report);

/// Numbers in math mode, so that a minus sign is typeset correctly and 1.2e-07 becomes a power of ten.
std::string latex_maths(const std::string& text);
/// "95\,\%": the confidence of the intervals.
std::string latex_per_cent(const ReportData& report);

/// Arms that are compared with each other, in the report's order.
struct LatexGroup {
  std::string label; ///< "length = 64"; empty without groups
  std::vector<const ReportArm*> arms;
};

std::vector<LatexGroup> latex_groups(const ReportData& report);
/// A name for \\label, unique in the document: "tab:quickstart-val-loss". `kind` is "tab" or "fig".
std::string latex_label(const ReportData& report, const std::string& kind, const std::string& what);
/// The number of characters of the longest name of an arm.
std::size_t longest_name(const ReportData& report);
/// Names up to this number of characters stand beside a table's numbers or a plot without being broken into lines.
inline constexpr std::size_t short_name = 24;

/// The arm's name below its group's heading.
std::string name_in_group(const ReportArm& arm);

} // namespace heed
