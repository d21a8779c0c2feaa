// Where a report's numbers come from, as far as a reader must know it before reading them.
#pragma once

#include "experiments/report/report_data.hpp"

#include <string>
#include <vector>

namespace heed {

/// Sentences that stand at the top of a report in every format but CSV: the runs were made elsewhere; the plan was
/// frozen after some of its runs had finished, with what changed since earlier sweeps; finished runs are gone; runs are
/// left out because their folders were edited, are damaged, or are of another version. Empty for a report without any
/// of these.
std::vector<std::string> provenance_warnings(const ReportData& report);

/// Converts "2026-11-22T10:15:00Z" to "2026-11-22 10:15 UTC".
std::string time_text(const std::string& utc);

} // namespace heed
