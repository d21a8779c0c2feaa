// Tests interactions: whether the effect of one option depends on another, for crossed options and for arms in several
// groups.
#pragma once

#include "experiments/report/report_data.hpp"

#include <string>
#include <vector>

namespace heed {

/// The interactions of a report's arms, each over the seeds that all four arms have. For crossed options, where the arm
/// `both` combines the changes of the arms a and b, each of one option, with a common reference:
///     d = (both - b) - (a - reference),
/// and with groups ([sweep] within):
///     d = (a in this group - its reference) - (a in the first group - its reference).
/// d is tested by step-down sign flips over all interactions of the report, with [report] margin; they are a family of
/// their own. Without an interaction d is symmetric for any noise of the same shape in all arms, so the test is also
/// valid for an unpaired plan.
std::vector<Interaction> interactions_of(const ReportData& report);

/// "Interaction: the effect of score = additive is +0.10 nats by itself and +0.30 nats with heads = 8; this change,
/// +0.20 nats [0.15, 0.25], is found, p = 0.031, n = 6." Then the arms at a limit, and the number of excluded seeds.
std::string interaction_sentence(const ReportData& report, const Interaction& interaction);

/// The sentences of all interactions.
std::vector<std::string> interaction_sentences(const ReportData& report);

} // namespace heed
