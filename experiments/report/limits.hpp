// Floor and ceiling: what a task can't tell apart, however many seeds are run.
#pragma once

#include "experiments/report/report_data.hpp"

#include <optional>
#include <string>
#include <vector>

namespace heed {

/// What a value says of learning: by its place on the way from chance to the metric's best, on which 5 % is near chance.
/// Of perplexities, the way is that of the loss that they are the exponential of.
enum class Standing { learned, at_chance, worse_than_chance };

enum class Limit { none, chance, worse_than_chance, worst, best };

/// What guessing comes to in the report's metric: the task's chance of a target, of all of a row's (sequence
/// accuracies), or its loss, in bits or as a perplexity where the metric is that. None: not known.
std::optional<Task::Level> chance_level(const ReportData& report, const ReportArm& arm);

/// None where chance is not known.
std::optional<Standing> standing_of(const ReportData& report, const ReportArm& arm, double value);
/// The value from which on a seed has learned by that.
std::optional<double> least_learned(const ReportData& report, const ReportArm& arm);

/// Where all of an arm's runs stand. worse_than_chance: each of them is. chance: none has learned, and their mean is at
/// most 1 % of the way from chance to the metric's bound, or no further than Student's 95 % interval of it reaches.
/// worst and best: every run has the metric's bound. none: elsewhere, or no run has the metric, or one failed.
Limit limit_of(const ReportData& report, const ReportArm& arm);

/// "causal = false sees what it is to predict (attention.causal = false): ...", for each arm that does; then
/// "The reference and without position are at chance (val_accuracy 0.1: 1 / symbols): this task can't tell them apart."
/// A sentence for each reference or group with such an arm and each limit; nothing where there is none.
std::vector<std::string> limit_sentences(const ReportData& report);

/// "Both at chance: this task can't tell them apart. "; empty where the arm and its reference don't share a limit.
std::string shared_limit(const ReportData& report, const ReportArm& arm);

} // namespace heed
