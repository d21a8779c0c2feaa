// Where the variance of the results comes from ([sweep] vary), for readers: table, sentences, note and figure.
#pragma once

#include "experiments/report/document.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/report/text_table.hpp"

#include <boost/json.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace heed {

/// Computes `ReportVariation::by_metric` from the values of the runs, whose IDs the plan's fixings name.
/// @param report  with its metrics, its resolution, the runs of its arms in the plan's order and those of the variation
void compute_variance(ReportData& report, const Variation& planned);

/// Calls `use(which)` for the report's metric, 0, and for each further metric; not at all without a variation.
void each_variance(const ReportData& report, const std::function<void(std::size_t which)>& use);

/// The metric with this number: the report's, or a further one.
const Metric& metric_of_variance(const ReportData& report, std::size_t which);

/// A row for each source, one for all of them together, and one for the seeds of the sweep.
document::Table variance_table(const ReportData& report, std::size_t which);
/// Its columns for people.
TextTable variance_text_table(const ReportData& report, std::size_t which);
/// "Where the variance of val_accuracy comes from", the title of the table.
std::string variance_title(const ReportData& report, std::size_t which);

/// "Order of data makes 60 % [25, 85] of the variance of val_accuracy.": the largest share first, then sources without
/// effect, and those of which nothing is known.
std::vector<std::string> variance_sentences(const ReportData& report, std::size_t which);

/// How the numbers were found, what they hold for, and how many runs are missing; empty without a variation.
std::string variance_note(const ReportData& report);

/// Bars of the standard deviations by the report's metric; without series if nothing is known.
document::Figure variance_figure(const ReportData& report);

/// For programs: tables, sentences and runs; null without a variation.
boost::json::value variance_json(const ReportData& report);
std::string variance_markdown(const ReportData& report);
std::string variance_latex(const ReportData& report);

} // namespace heed
