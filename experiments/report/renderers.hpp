// Formats of a report. Each takes the collected data alone; a further format is one more function in a file of its own.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/report/style.hpp"
#include "experiments/report/text_table.hpp"

#include <string>
#include <vector>

namespace heed {

/// Arm, n, mean ± sd of the metric, difference from the reference with its interval, p, answer, parameters, time: what
/// the formats have in common. Colour marks arms that differ: green for the better side, red for the worse.
TextTable summary_table(const ReportData& report, const Style& style);

/// "val_loss: mean ± sd over seeds, lower is better; ..." : what the columns of `summary_table` mean.
std::vector<std::string> summary_notes(const ReportData& report);

/// What stands beneath the table by one of the further metrics, but for its answers: what the metric is.
std::string further_note(const Metric& metric);

/// What was done to make arms comparable, a sentence for each arm: what its tuning tried and chose, and what evening
/// out made of it. Empty where nothing was.
std::vector<std::string> fairness_notes(const ReportData& report);
/// Of these what was evened out: the feed-forward's width of each arm, and what it then comes to.
std::vector<std::string> matching_notes(const ReportData& report);

/// "60 of 66 runs finished, 2 failed, 3 missing, 1 left out".
std::string progress_sentence(const ReportData& report);

/// For a terminal of so many columns; 0: as wide as its lines are.
std::string render_terminal(const ReportData& report, const Style& style, std::size_t width = 0);

/// A whole page of Markdown.
std::string render_markdown(const ReportData& report);

/// One HTML file that draws itself in a browser, offline: question and answers, table, figures, attention maps,
/// configurations, runs. It asks no server for anything.
std::string render_html(const ReportData& report);

/// A LaTeX document that compiles by itself: a booktabs table, the differences and the learning curves as pgfplots.
std::string render_latex(const ReportData& report);

/// A line for each arm, with all that is known of it, and for each arm by each further metric; numbers are not rounded.
std::string render_csv(const ReportData& report);
/// A line for each run.
std::string render_runs_csv(const ReportData& report);

} // namespace heed
