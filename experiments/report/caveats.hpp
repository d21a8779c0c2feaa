// Notes on what p, intervals and answers do not cover.
#pragma once

#include "experiments/report/document.hpp"
#include "experiments/report/report_data.hpp"

#include <string>

namespace heed {

/// A note about unequal spreads in arms with an answer: with unequal spreads and skewed noise, tests of means give p
/// values that are too small. Whether spreads differ is tested at a level of 10 % for each arm. Empty if none differ.
/// See docs/reliability/error-rates-grid.md.
document::Note spreads_note(const ReportData& report);

/// "If 1 run in 10 fell by 0.8, 6 seeds would show none in 53 of 100 sweeps.": (1 - 1/10)^n, beside arms that are the
/// same; n is of the arm with the fewest seeds. A run that falls is at chance, or else at the metric's other end; where
/// both are unknown, it "failed to learn". Empty if no arm is the same.
std::string rare_failures_note(const ReportData& report);

/// What p and intervals generalise to: other seeds, not other examples.
std::string scope_note(const ReportData& report);

} // namespace heed
