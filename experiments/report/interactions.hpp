// Tests interactions: whether the effect of one option depends on another, for crossed options and for arms in several
// groups.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/statistics/comparison.hpp"
#include "experiments/sweep/plan.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace heed {

/// The interactions of a report's arms, each over the seeds that all four arms have. For crossed options, where the arm
/// `both` combines the changes of the arms a and b, each of one option, with a common reference:
///     d = (both - b) - (a - reference),
/// and with groups ([sweep] within):
///     d = (a in this group - its reference) - (a in the first group - its reference).
/// d is tested by sign flips, with [report] margin, in one family with the report's arms: p is corrected over all of
/// them. Without an interaction d is symmetric for any noise of the same shape in all arms, so the test is also valid
/// for an unpaired plan.
struct Contrasts {
  std::vector<Interaction> interactions; ///< without their comparisons
  /// For each interaction two "arms" of `statistics::compare_each`: the effect without the other option, which is the
  /// reference of the second, the effect with it. `reference_of` counts from the first of these values.
  std::vector<statistics::SeedValues> values;
  std::vector<std::size_t> reference_of;
  std::vector<statistics::ComparisonRequest> requests;
};
Contrasts contrasts_of(const ReportData& report, double level);

/// The number of interactions that a report of this plan has, if all its runs finish.
std::size_t interactions_planned(const Plan& plan);

/// "Interaction: the effect of score = additive is +0.10 nats by itself and +0.30 nats with heads = 8; this change,
/// +0.20 nats [0.15, 0.25], is found, p = 0.031, n = 6." Then the arms at a limit, and the number of excluded seeds.
std::string interaction_sentence(const ReportData& report, const Interaction& interaction);

/// The sentences of all interactions.
std::vector<std::string> interaction_sentences(const ReportData& report);

} // namespace heed
