// Differences over other examples: intervals that hold for other seeds and other validation examples, not only for
// other seeds ([report] examples).
#pragma once

#include "experiments/report/numbers.hpp"
#include "experiments/report/report_data.hpp"

#include <string>

namespace heed {

/// Fills in `over_examples` of each arm, from the runs whose examples are known: pairs of the comparison's seeds, or
/// all runs of both if they are not paired. The intervals hold for all arms together (Bonferroni).
void find_over_examples(ReportData& report);

/// " Over other examples, too: +0.021 nats [0.009, 0.033]; of its squared error, 70 % comes from examples and 30 % from
/// seeds." Empty for an arm without such an interval.
std::string over_examples_sentence(const ReportData& report, const ReportArm& arm, const TableDigits& digits);

/// How these intervals are made: "intervals over other examples are Student's, over seeds and 2,000 examples, ..."
std::string over_examples_note(const ReportData& report);
/// The runs whose examples are not known, and why. Empty for none.
std::string unknown_examples_note(const ReportData& report);

} // namespace heed
