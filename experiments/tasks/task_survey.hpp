// What a task gives, looked at before anything trains.
#pragma once

#include "experiments/tasks/task.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// How long rows are, in tokens.
struct LengthSurvey {
  std::int64_t shortest = 0, median = 0, longest = 0;
};

struct ExampleText {
  std::string input, output;
};

struct TaskSurvey {
  Form form = Form::language_model;
  TaskShape shape;
  Task::Facts facts;
  std::int64_t rows = 0;        ///< of training, that lengths and counts below are of
  LengthSurvey inputs, outputs; ///< outputs: sequence_to_sequence, with the end token
  double filled = 1;            ///< share of batches of `batch` that is not padding
  /// Commonest tokens of the rows (inputs and outputs; of language models, of the rows), or classes, with their counts.
  std::vector<std::pair<std::string, std::int64_t>> commonest;
  std::int64_t different = 0;        ///< how many different ones occurred
  std::vector<ExampleText> examples; ///< of training; for images, outputs only
};

/// InspectionParts at the first `rows` rows that training under `seed` would see in batches of `batch`.
TaskSurvey survey_task(const Task& task, Form form, std::uint64_t seed, std::int64_t batch, std::int64_t rows,
                       std::int64_t examples, std::size_t commonest);

/// A row of a training step, without padding.
struct TrainingRow {
  std::int64_t step = 0, row = 0;
  std::vector<std::int32_t> tokens;  ///< of the row, or of the input
  std::vector<std::int32_t> outputs; ///< sequence_to_sequence: what the decoder reads, from the token that begins it on
  std::vector<std::int32_t> targets; ///< of each token or output, `ignored` where there is none; or the class
  ExampleText text;
};

/// Calls `use` with the rows that training under `seed` sees in the first `steps` steps, of `batch` rows where the task
/// doesn't say otherwise. Throws heed::Refused for images, which have no tokens.
void each_training_row(const Task& task, Form form, std::uint64_t seed, std::int64_t batch, std::int64_t steps,
                       const std::function<void(const TrainingRow&)>& use);

/// Calls `use` with examples of a split in the order in which the data has them: with the first `count`, or, where
/// that is none, with all. Throws heed::Refused for a split whose examples are made without end, or that has none.
void each_example(const Task& task, Form form, Split split, std::optional<std::int64_t> count,
                  const std::function<void(const ExampleText&)>& use);

} // namespace heed
