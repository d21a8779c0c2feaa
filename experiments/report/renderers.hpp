// Declares the output formats of a report (terminal, Markdown, HTML, LaTeX, CSV). Each renderer uses only the collected
// data; a new format is one more function in its own file.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/report/style.hpp"
#include "experiments/report/text_table.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The table that all formats share: arm, n, mean ± sd of the metric, difference from the reference with its interval,
/// p, answer, parameters, state where it differs, time. Colour marks arms that differ: green for better, red for worse.
TextTable summary_table(const ReportData& report, const Style& style);
/// Whether the cost of an arm, or its time, is known. A report of a table has no columns for what no arm has.
bool has_cost(const ReportArm& arm);
bool has_time(const ReportArm& arm);
/// Whether arms of known cost differ in the size of the state, or only some of them have one.
bool state_differs(const ReportData& report);
/// The last values of a metric over the runs of the arm.
struct Measured {
  Metric metric;
  std::size_t n = 0; ///< number of runs with a value
  std::optional<double> mean, standard_deviation;
  std::string text() const; ///< "0.0123 ± 0.0004"
};

/// The compared metrics first, then all others. Empty for a report with several arms; metrics without a value are
/// omitted.
std::vector<Measured> measured_values(const ReportData& report);
/// Of a report with one arm: a row for each metric that its runs measured.
TextTable measured_table(const ReportData& report);

/// "60 of 66 runs finished, 2 failed, 3 missing, 1 left out".
std::string progress_sentence(const ReportData& report);

/// The report for a terminal that is `width` columns wide; 0: lines have any width.
/// @param whole  all of each note and answer; otherwise the first sentence of each note, and one sentence for arms with
///               the same answer (`short_answer_sentences`)
std::string render_terminal(const ReportData& report, const Style& style, std::size_t width = 0, bool whole = true);

/// A complete Markdown document.
std::string render_markdown(const ReportData& report);

/// One self-contained HTML file that a browser renders offline, without any request to a server: question and answers,
/// table, figures, attention maps, configurations, runs.
std::string render_html(const ReportData& report);

/// A complete LaTeX document: a booktabs table, and pgfplots of the differences and the learning curves.
std::string render_latex(const ReportData& report);

/// One line for each arm with all its statistics, and one for each arm and further metric; numbers are not rounded.
std::string render_csv(const ReportData& report);
/// One line for each run.
std::string render_runs_csv(const ReportData& report);
/// Lines for each arm, each metric by length, and each length: n, mean, standard deviation, lowest and highest value
/// over the seeds. Empty if nothing was measured at two or more lengths.
std::string render_lengths_csv(const ReportData& report);
/// A line for each source of variance, by each metric; empty without [sweep] vary.
std::string render_variance_csv(const ReportData& report);

/// The first line of a report in Markdown, which readers do not see.
inline constexpr std::string_view markdown_mark = "<!-- A report of Heed. -->\n";

/// Whether a file with this beginning is a report of Heed, in any of its formats. Such a file can be made again. A
/// report in Markdown of before the mark is not recognised.
bool is_report_of_heed(std::string_view beginning);

} // namespace heed
