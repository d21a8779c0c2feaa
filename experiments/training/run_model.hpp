// A configuration's model with its parameters, and batches for it: what training, evaluation and generation share.
#pragma once

#include "autograd/parameters.hpp"
#include "experiments/models/model.hpp"
#include "experiments/training/training.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace heed::HEED_REAL {

struct RunModel {
  /// A length of [train] evaluate_lengths.
  struct AtLength {
    std::int64_t length;
    const Task* task; ///< that makes rows of it; the run's task keeps it
    TaskShape shape;
  };

  Parameters parameters;
  std::unique_ptr<Model> model; ///< serves the longest of all these rows
  Form form;
  TaskShape shape; ///< of training
  std::vector<AtLength> at_lengths;

  /// Adds the parameters without drawing them. Throws heed::Refused where model and task do not go together, widths do
  /// not fit, or lengths beyond training's can't be served: where a parameter has numbers for each place of the longest
  /// row, those beyond training's would never be trained. `task` must outlive it.
  RunModel(const Config& config, const Task& task);
};

/// How many rows training step `step` has.
std::int64_t training_rows(const Config& config, const Task& task, const RunModel& run, std::int64_t step);

/// Of rows: all, or what who only counts needs (Task::training_row_lengths).
enum class Content { whole, outline };

/// Rows first .. first + rows - 1 of training step `step`.
void fill_training_batch(const Config& config, const Task& task, const RunModel& run, std::int64_t step,
                         std::int64_t first, std::int64_t rows, Batch& batch, Content content = Content::whole);

/// Rows of a split that are worked on together. Sums over pieces, added in order, are the same bits whatever the threads.
struct EvaluationPieces {
  static constexpr std::int64_t most_rows = 16;

  std::int64_t rows = 0;              ///< of all pieces
  std::int64_t rows_each = most_rows; ///< but for the last

  /// Of longer rows fewer, so that a piece has about as many tokens, and takes as much memory, as one of training's.
  static EvaluationPieces of_length(const RunModel& run, const TaskShape& shape, std::int64_t rows);

  /// So many rows of a piece go through the model together, where that changes nothing: rows that are equally long, of
  /// which a piece would take more memory than caches have.
  std::int64_t rows_at_once(const TaskShape& shape) const {
    constexpr std::int64_t most_tokens = 4096;
    const std::int64_t tokens = std::max<std::int64_t>(shape.length + shape.output_length, 1);
    return shape.varied ? rows_each : std::clamp<std::int64_t>(most_tokens / tokens, 1, rows_each);
  }

  int count() const { return static_cast<int>((rows + rows_each - 1) / rows_each); }
  std::int64_t first(int piece) const { return piece * rows_each; }
  std::int64_t size(int piece) const { return std::min(rows_each, rows - first(piece)); }
};

/// Rows first .. first + rows - 1 of a split, padded to the task's lengths.
void fill_evaluation_batch(const Task& task, const RunModel& run, Split split, std::int64_t first, std::int64_t rows,
                           Batch& batch, Content content = Content::whole);
void fill_evaluation_batch(const RunModel::AtLength& at, const RunModel& run, Split split, std::int64_t first,
                           std::int64_t rows, Batch& batch, Content content = Content::whole);

/// How many targets of the batch count.
std::int64_t counted_targets(const Batch& batch);

/// The parameters' values from a checkpoint; heed::Failed where a name, a shape or the precision differs.
void load_parameters(Parameters& parameters, const Checkpoint& checkpoint);

/// A stored tensor's numbers into `to`, and back; heed::Failed where they do not fit.
void read_stored(const Checkpoint& checkpoint, const std::string& name, const Shape& shape, Real* to);
StoredTensor stored(const std::string& name, const Shape& shape, const Real* from);

} // namespace heed::HEED_REAL
