// Whether an arm's metric may stand beside the reference's. The rule: both measure the same thing on the same data.
//
//   what must agree                       why
//   task.kind                             another task has another score
//   task.seed, task.validation            of generated tasks: which examples are held out
//   the data's content, and [data] but    of tasks that read files: which rows are held out, and what their tokens are
//     for data.bucket
//   the list of examples                  of tasks that have one (scan): its options decide which are held out
//   train.evaluate_batches x train.batch  where that is not all held-out rows
//   how the model sees the task           a classifier's loss is per row, a decoder's per token, an encoder-decoder's
//                                         has its end token, too
//   how many classes there are            a loss over 16 symbols is not one over 8
//   the metric                            every arm must measure it: BLEU of the same words, a loss estimated from as
//                                         many rows
//
// A generated task's own options ([task.KIND]) may differ where these agree: how long inputs are is a question, not a mistake.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/tasks/task.hpp"

#include <string>

namespace heed {

/// Why `arm` can't be compared with `reference` by the metric: half a sentence, empty where it can.
std::string why_not_comparable(const Config& reference, const Task& reference_task, Form reference_form,
                               const Config& arm, const Task& arm_task, Form arm_form, const std::string& metric);

} // namespace heed
