// Whether what one option does depends on another: of options that are crossed, and of arms in several groups.
#pragma once

#include "experiments/report/report_data.hpp"

#include <string>
#include <vector>

namespace heed {

/// The interactions of a report's arms, each over the seeds that all four of its arms have. Of a seed
///     d = (a and b - b alone) - (a alone - the reference)
/// where the arm `both` changes just what the arms a and b change, each of them one option, against one reference; and
///     d = (a in this group - its reference) - (a in the first group - that group's reference)
/// where [sweep] within makes groups. d is tested by sign flips, step-down over all interactions of the report, which
/// are a family of their own, with [report] margin; d is symmetric where there is no interaction, whatever the noise of
/// one shape, so that this holds for an unpaired plan, too.
std::vector<Interaction> interactions_of(const ReportData& report);

/// "Interaction: score = additive makes +0.10 nats by itself and +0.30 nats with heads = 8; the change of +0.20 nats
/// [0.15, 0.25] is found, p = 0.031, n = 6."
std::string interaction_sentence(const ReportData& report, const Interaction& interaction);

/// Those of all interactions.
std::vector<std::string> interaction_sentences(const ReportData& report);

} // namespace heed
