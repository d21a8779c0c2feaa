// Summarises the data of a task before training: lengths, padding, most frequent tokens, and examples as text.
#pragma once

#include "experiments/tasks/task.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// The lengths of sequences, in tokens.
struct LengthSurvey {
  std::int64_t shortest = 0, median = 0, longest = 0;
};

struct ExampleText {
  std::string input, output;
};

/// Sequence `at` of a batch as text. A language model's input ends where its output begins. If the model does not read
/// each target at the next position, or positions without a target follow, the input is the whole sequence, and the
/// output has the target of each position, or "_". The input of an image is empty.
ExampleText example_text(const Task& task, const Batch& batch, std::int64_t at);
/// The same with other output tokens in place of the targets: predictions, in an array of the same shape.
ExampleText example_text(const Task& task, const Batch& batch, std::int64_t at,
                         std::span<const std::int32_t> predictions);

struct TaskSurvey {
  TaskFormat format = TaskFormat::language_model;
  TaskSizes sizes;
  Task::Facts facts;
  std::int64_t sequences = 0; ///< number of training sequences from which the values below are computed
  /// The number of training sequences if they are listed, so that training repeats them in epochs; else empty
  std::optional<std::int64_t> listed = {};
  double sequences_per_step = 0; ///< the mean over the surveyed steps
  LengthSurvey inputs, outputs;  ///< outputs: sequence_to_sequence, with the end token
  double filled = 1;             ///< fraction of the batches of `batch` sequences that is not padding
  /// The most frequent tokens (of inputs and outputs; language models: of sequences) or classes, with their counts.
  std::vector<std::pair<std::string, std::int64_t>> commonest;
  std::int64_t different = 0;        ///< number of different tokens or classes that occurred
  std::vector<ExampleText> examples; ///< from training; for images, outputs only
};

/// Summarises the first `sequences` sequences that training with `seed` would use in batches of `batch`; of listed
/// sequences, each at most once.
TaskSurvey survey_task(const Task& task, TaskFormat format, std::uint64_t seed, std::int64_t batch,
                       std::int64_t sequences, std::int64_t examples, std::size_t commonest);

/// A sequence of a training step, without padding.
struct TrainingSequence {
  std::int64_t step = 0, sequence = 0;
  std::vector<std::int32_t> tokens;  ///< the sequence, or the input
  std::vector<std::int32_t> outputs; ///< sequence_to_sequence: the decoder's input, starting with the begin token
  std::vector<std::int32_t> targets; ///< the target of each token or output, or `ignored`; or the class
  ExampleText text;
};

/// Calls `use` with the sequences of the first `steps` steps of training with `seed`. A step has `batch` sequences
/// unless the task determines their number. Throws heed::Refused for images, because they have no tokens.
void each_training_sequence(const Task& task, TaskFormat format, std::uint64_t seed, std::int64_t batch,
                            std::int64_t steps, const std::function<void(const TrainingSequence&)>& use);

/// Calls `use` with examples of a split in the order of the data: with the first `count`, or with all if `count` is
/// empty. Throws heed::Refused if the split has no examples or an endless number of them.
void each_example(const Task& task, TaskFormat format, Split split, std::optional<std::int64_t> count,
                  const std::function<void(const ExampleText&)>& use);

} // namespace heed
