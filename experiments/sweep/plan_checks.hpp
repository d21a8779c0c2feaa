// Checks a prepared sweep: refuses thresholds and interim looks that no result can reach, and reports settings without
// effect. Decides whether an arm can be compared with the reference.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/tasks/task.hpp"

#include <string>
#include <vector>

namespace heed {

/// How many sequences of validation each evaluation during training uses: train.evaluate_batches x train.batch of them,
/// or all.
std::int64_t evaluated_sequences(const Config& config, const Task& task, TaskFormat format);

/// Refuses settings that no result can satisfy: a margin as wide as the metric's range, and a threshold of [report]
/// learned or a target of steps_to outside the range. Only for new plans: a plan that was frozen earlier can still run.
/// Throws heed::Refused.
void refuse_unreachable(const Preparation& prepared);

/// The first note names models that can see their prediction targets. Further notes name settings without effect: a
/// schedule after a warm-up that lasts for the whole run, entries of `exclude` and `require` that match no combination,
/// an option that is given twice.
std::vector<std::string> notes_of(const Preparation& prepared);

/// Checks that the last look includes all seeds, and that each look can find a difference. Throws heed::Refused with
/// the place in the file.
void check_looks(const LookSpec& spec, const Plan& plan);

/// The smallest p that `seeds` seeds of each arm can give; for unpaired runs after Holm's correction.
double smallest_p_of(const Plan& plan, std::size_t seeds);

/// Decides whether an arm can be compared with the reference by a metric. The rule: both must measure the same thing on
/// the same data.
///
///   what must agree                       why
///   task.kind                             another task has another score
///   task.seed, task.validation            generated tasks: they determine which examples are held out
///   the data's content, and [data]        tasks that read files: they determine held-out sequences and their tokens
///     except data.bucket
///   the list of examples                  tasks that have one (scan): its options determine which are held out
///   train.evaluate_batches x train.batch  only if they do not cover all held-out sequences
///   how the model sees the task           the loss of a classifier is per sequence, of a decoder per token; an
///                                         encoder-decoder's also includes the end token
///   the number of classes                 a loss over 16 symbols differs from a loss over 8
///   the metric                            every arm must measure it: BLEU of the same words, a loss estimated from
///                                         equally many sequences
///
/// A generated task's own options ([task.KIND]) may differ if all of the above agree: for example, the input length can
/// be the subject of a sweep.
/// @return the reason why `arm` cannot be compared with `reference` by the metric, as half a sentence; empty if it can.
std::string why_not_comparable(const Config& reference, const Task& reference_task, TaskFormat reference_format,
                               const Config& arm, const Task& arm_task, TaskFormat arm_format,
                               const std::string& metric);

} // namespace heed
