// A configuration's model with its parameters, and functions that fill batches for it. Training, evaluation and
// generation share them.
#pragma once

#include "autograd/parameters.hpp"
#include "experiments/models/model.hpp"
#include "experiments/system/polling.hpp"
#include "experiments/training/training.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed::HEED_REAL {

struct RunModel {
  /// Sequences that are evaluated beside those of the split; their task is owned by the run's task.
  struct OtherSequences {
    const Task* task;
    TaskSizes sizes;
    std::int64_t length = 0; ///< one of [train] evaluate_lengths
    std::string set = "";    ///< or the name of one of [data] validation_sets

    /// The metric over these sequences.
    std::string name(std::string_view metric) const;
  };

  Parameters parameters;
  std::unique_ptr<Model> model; ///< supports the longest sequence of training and evaluation
  TaskFormat format;
  TaskSizes sizes; ///< of the training sequences
  std::vector<OtherSequences> at_lengths, on_sets;
  /// Called before each batch of an evaluation; null if there is no PollScope, which must outlive this object.
  const Poll* poll = PollScope::current();

  /// Registers the parameters without initialising them. Throws heed::Refused if model and task are incompatible, if
  /// widths do not match, or if the model does not support lengths beyond the training length: a parameter with values
  /// for each position of the longest sequence would have untrained values there. `task` must outlive this object.
  RunModel(const Config& config, const Task& task);
};

/// The number of sequences of training step `step`.
std::int64_t training_sequences(const Config& config, const Task& task, const RunModel& run, std::int64_t step);

/// `whole`: complete sequences. `outline`: only lengths and target positions are meaningful
/// (Task::training_sequence_lengths).
enum class Content { whole, outline };

/// Fills the batch with sequences first .. first + sequences - 1 of training step `step`.
void fill_training_batch(const Config& config, const Task& task, const RunModel& run, std::int64_t step,
                         std::int64_t first, std::int64_t sequences, Batch& batch, Content content = Content::whole);

/// Divides the sequences of a split into pieces that are processed together. The sums of the pieces are added in order,
/// so results are bit-identical for any number of threads.
struct EvaluationPieces {
  static constexpr std::int64_t most_sequences = 16;

  std::int64_t sequences = 0;                   ///< of all pieces
  std::int64_t sequences_each = most_sequences; ///< of each piece except the last

  /// Pieces of longer sequences have fewer sequences, so that a piece has about as many tokens, and takes as much
  /// memory, as a piece of training sequences.
  static EvaluationPieces of_length(const RunModel& run, const TaskSizes& sizes, std::int64_t sequences);

  /// The number of sequences of a piece that go through the model together. If all sequences have the same length, a
  /// large piece is split into parts that fit into the CPU's caches, and the results stay the same.
  std::int64_t sequences_at_once(const TaskSizes& sizes) const {
    constexpr std::int64_t most_tokens = 4096;
    const std::int64_t tokens = std::max<std::int64_t>(sizes.length + sizes.output_length, 1);
    return sizes.varied ? sequences_each : std::clamp<std::int64_t>(most_tokens / tokens, 1, sequences_each);
  }

  int count() const { return static_cast<int>((sequences + sequences_each - 1) / sequences_each); }
  std::int64_t first(int piece) const { return piece * sequences_each; }
  std::int64_t size(int piece) const { return std::min(sequences_each, sequences - first(piece)); }
};

/// Fills the batch with sequences first .. first + sequences - 1 of a split, padded to the task's lengths.
void fill_evaluation_batch(const Task& task, const RunModel& run, Split split, std::int64_t first,
                           std::int64_t sequences, Batch& batch, Content content = Content::whole);
void fill_evaluation_batch(const RunModel::OtherSequences& sequences_of, const RunModel& run, Split split,
                           std::int64_t first, std::int64_t sequences, Batch& batch, Content content = Content::whole);

/// The number of targets in the batch that are counted.
std::int64_t counted_targets(const Batch& batch);

/// Reads the parameters' values from a checkpoint. Throws heed::Failed if a name, a shape or the precision differs.
void load_parameters(Parameters& parameters, const Checkpoint& checkpoint);

/// Reads the values of those parameters that the checkpoint has. Throws heed::Failed if the checkpoint has another
/// tensor, or if a shape or the precision differs.
void load_some_parameters(Parameters& parameters, const Checkpoint& checkpoint);

/// read_stored copies a stored tensor's values into `to`; stored does the opposite. Throws heed::Failed if name, shape
/// or precision do not match.
void read_stored(const Checkpoint& checkpoint, const std::string& name, const Shape& shape, Real* to);
StoredTensor stored(const std::string& name, const Shape& shape, const Real* from);

} // namespace heed::HEED_REAL
