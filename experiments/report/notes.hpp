// The notes of a report: what its columns mean, and what its readers must know.
#pragma once

#include "experiments/report/document.hpp"
#include "experiments/report/report_data.hpp"

#include <string>
#include <vector>

namespace heed {

/// All notes, in the order in which formats show them: on columns and answers, then on the arms' formulas, and on how
/// the arms were made comparable (matching and tuning).
std::vector<document::Note> report_notes(const ReportData& report);

/// The note below the table of a further metric: what the metric is.
/// @param apart  the arms are not asked the same by the main metric (Question::not_worse), so p has a correction of its
///               own
std::string further_note(const Metric& metric, bool apart = false);

} // namespace heed
