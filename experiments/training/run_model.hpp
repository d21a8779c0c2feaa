// A configuration's model with its parameters, and batches for it: what training, evaluation and generation share.
#pragma once

#include "autograd/parameters.hpp"
#include "experiments/models/model.hpp"
#include "experiments/training/training.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace heed::HEED_REAL {

struct RunModel {
  Parameters parameters;
  std::unique_ptr<Model> model;
  Form form;
  TaskShape shape;

  /// Adds the parameters without drawing them. Throws heed::Refused where model and task do not go together, or widths
  /// do not fit.
  RunModel(const Config& config, const Task& task);
};

/// How many rows training step `step` has.
std::int64_t training_rows(const Config& config, const Task& task, const RunModel& run, std::int64_t step);

/// Rows first .. first + rows - 1 of training step `step`.
void fill_training_batch(const Config& config, const Task& task, const RunModel& run, std::int64_t step,
                         std::int64_t first, std::int64_t rows, Batch& batch);

/// Rows of a split that are worked on together. Sums over pieces, added in order, are the same bits whatever the threads.
struct EvaluationPieces {
  static constexpr std::int64_t rows_each = 16; ///< but for the last

  std::int64_t rows = 0; ///< of all pieces

  int count() const { return static_cast<int>((rows + rows_each - 1) / rows_each); }
  std::int64_t first(int piece) const { return piece * rows_each; }
  std::int64_t size(int piece) const { return std::min(rows_each, rows - first(piece)); }
};

/// Rows first .. first + rows - 1 of a split, padded to the task's lengths.
void fill_evaluation_batch(const Task& task, const RunModel& run, Split split, std::int64_t first, std::int64_t rows,
                           Batch& batch);

/// How many targets of the batch count.
std::int64_t counted_targets(const Batch& batch);

/// The parameters' values from a checkpoint; heed::Failed where a name, a shape or the precision differs.
void load_parameters(Parameters& parameters, const Checkpoint& checkpoint);

/// A stored tensor's numbers into `to`, and back; heed::Failed where they do not fit.
void read_stored(const Checkpoint& checkpoint, const std::string& name, const Shape& shape, Real* to);
StoredTensor stored(const std::string& name, const Shape& shape, const Real* from);

} // namespace heed::HEED_REAL
