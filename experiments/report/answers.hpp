// What a sweep found, in words: one sentence for each arm.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/report_data.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// What is said of an arm, by its comparison's answer:
///     Removing residual costs 0.31 nats [0.28, 0.34], p = 0.031, n = 6.
///     score = additive gains 0.022 in val_accuracy [0.011, 0.033], p = 0.016, n = 7.
///     heads = 8 is the same as the reference within 0.1 nats: +0.02 [-0.01, 0.05], p = 0.001 (equivalence), n = 8.
///     norm = post can't be told from the reference: +0.02 nats [-0.05, 0.09], p = 0.44, n = 6. A difference of 0.12
///     nats would have been found in 80 of 100 such sweeps.
///     Removing scale is equal to the reference, bit for bit: val_loss is the same number in all 6 seeds.
///     Removing scale is underpowered: n = 5 can't go below p = 0.0625; 6 seeds can. So far +0.02 nats (Student's t:
///     [-0.05, 0.09]).
/// `costs` is for the worse side of the metric and `gains` for the better, with numbers turned so that a cost is
/// positive as a gain is; the other forms give the arm minus the reference. Brackets are the 95 % interval by
/// flips, which holds for all arms at once as p does. An arm named "without X" is told as "Removing X". Empty for the
/// reference.
/// Where both are at chance or at the metric's bound, the sentence says so first (`shared_limit`).
/// Where seeds fall into those that learned and others, the sentence leads with their shares; runs that failed get a
/// last one, with p where they are the worst of all.
std::string answer_sentence(const ReportData& report, const ReportArm& arm);

/// What is at chance or at the metric's bound (`limit_sentences`), then the sentences of all arms but the reference, then
/// those of interactions.
std::vector<std::string> answer_sentences(const ReportData& report);

/// " nats"; " in val_accuracy" where the metric has no unit.
std::string unit_of(const Metric& metric);
/// "+0.02 nats [-0.05, 0.09]": the arm minus the reference.
std::string signed_difference(const statistics::Comparison& c, const std::string& unit, Decimals decimals);

/// "0.05"; "0.0354", of a planned look.
std::string level_text(double level);

/// "95 %", of all intervals that are shown; "96.5 %" at a planned look; "each look's %", of several.
std::string confidence_text(const ReportData& report);

/// "underpowered: n = 5 can't go below p = 0.0625; 6 seeds can".
std::string underpowered_words(std::string_view n, double smallest_p, std::size_t seeds_needed);

} // namespace heed
