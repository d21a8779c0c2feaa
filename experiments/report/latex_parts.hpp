// The parts of a LaTeX report (tables, figures) and their common helper functions.
#pragma once

#include "experiments/report/document.hpp"
#include "experiments/report/report_data.hpp"

#include <cstddef>
#include <string>

namespace heed {

/// The table of a metric: with the notes on its columns, or with a reference to the table that has them.
std::string latex_table(const ReportData& report, bool with_notes);
/// Of a report with one arm: all that its runs measured.
std::string latex_single(const ReportData& report);
std::string latex_figure(const ReportData& report, const document::Figure& figure);

/// Numbers in math mode, so that a minus sign is typeset correctly and 1.2e-07 becomes a power of ten.
std::string latex_maths(const std::string& text);

/// A name for \\label, unique in the document: "tab:quickstart-val-loss". `kind` is "tab" or "fig".
std::string latex_label(const ReportData& report, const std::string& kind, const std::string& what);
/// The number of characters of the longest name of an arm.
std::size_t longest_name(const ReportData& report);
/// Names up to this number of characters stand beside a table's numbers or a plot without being broken into lines.
inline constexpr std::size_t short_name = 24;

} // namespace heed
