// Floor and ceiling effects: detects arms at chance or at the metric's bound, which a task cannot distinguish with any
// number of seeds.
#pragma once

#include "experiments/report/report_data.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Whether a value shows learning. It is measured on the scale from chance to the metric's best value; up to 5 % is
/// near chance. For perplexities, the scale is that of the loss (the perplexity's logarithm).
enum class Standing { learned, at_chance, worse_than_chance };

enum class Limit { none, chance, worse_than_chance, worst, best };

/// The chance level in the report's metric: the task's probability of guessing a target, or a whole sequence (sequence
/// accuracies), or its loss, converted to bits or a perplexity if the metric is one. Empty: unknown.
std::optional<Task::Level> chance_level(const ReportData& report, const ReportArm& arm);

/// The chance level and how it is computed: "2.3026 (ln(10), 10 symbols)". Empty if it is unknown.
std::string chance_in_words(const ReportData& report, const ReportArm& arm);
/// The note of a report about chance: its level for the first arm, and when an arm counts as at chance (`limit_of`).
/// Empty if it is unknown.
std::string chance_note(const ReportData& report);

/// The position of a value on the scale from chance, 0, to the metric's best value, 1; below 0 if it is worse than
/// chance. Empty if chance is unknown, and if the metric has no best value.
std::optional<double> share_of_way(const ReportData& report, const ReportArm& arm, double value);
/// Empty if chance is unknown.
std::optional<Standing> standing_of(const ReportData& report, const ReportArm& arm, double value);
/// The smallest value (in the metric's direction) at which a seed has learned by this scale.
std::optional<double> least_learned(const ReportData& report, const ReportArm& arm);

/// The limit that all of an arm's runs are at. worse_than_chance: every run is worse than chance. chance: no run has
/// learned, and their mean is at most 1 % of the way from chance to the metric's bound, or Student's 95 % interval of
/// the mean includes chance. worst and best: every run has the metric's bound. none: any other case, also if no run has
/// the metric or one failed.
Limit limit_of(const ReportData& report, const ReportArm& arm);

/// "causal = false sees what it is to predict (attention.causal = false): ..." for each arm that sees its targets; then
/// "The reference and without position are at chance: their val_accuracy is that of guessing, 0.1000 (1 / symbols).
/// This task can't tell them apart. Try another train.learning_rate, ..."
/// There is one sentence for each reference or group and each limit that an arm in it has. Empty if there is none.
std::vector<std::string> limit_sentences(const ReportData& report);

/// The limit of an arm, and the limit that it shares with its reference; none: they share none, or it is a reference.
struct ArmLimits {
  Limit own = Limit::none, shared = Limit::none;
};
ArmLimits arm_limits(const ReportData& report, const ReportArm& arm);
/// "at chance", "at the ceiling" and so on; empty for none.
std::string_view place_of(Limit limit);

/// "Both at chance: this task can't tell them apart. ", or "Worse than chance: ... " if only the arm is; else empty.
std::string limit_remark(const ArmLimits& limits);

} // namespace heed
