// The common part of tasks with a list of examples: epochs, buckets of similar lengths, the formats, and text for
// tokens. The file of a single task makes its lists.
#pragma once

#include "experiments/data/data_cache.hpp"
#include "experiments/data/vocabulary.hpp"
#include "experiments/tasks/example_sequence.hpp"
#include "experiments/tasks/task.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace heed {

/// The data of a listed task.
struct Dataset {
  std::string name; ///< the task's kind
  std::string fingerprint;
  std::array<ExampleList, 3> examples; ///< by Split; outputs are tokens of the vocabulary `output`, or one label
  /// By Split: the expected outputs of validation and test as texts of the data; empty if they equal the text of their
  /// tokens.
  std::array<std::vector<Task::Reference>, 3> references;
  std::array<std::string, 3> files; ///< by Split: the source of the examples; empty if no file is read
  std::shared_ptr<const Vocabulary> input;
  std::shared_ptr<const Vocabulary> output; ///< the same object as `input` if they share one; null with labels
  std::vector<std::string> labels;          ///< classification: the names of the classes; else empty
  Task::Chance chance{};
  std::vector<std::string> notes;             ///< for `heed data`: what was dropped or cut, and why
  std::shared_ptr<const DataCache> kept = {}; ///< owns the memory of the examples; null: ExampleList owns it
};

/// The task of a dataset. Training repeats its examples in epochs (TrainingOrder, with [data] bucket; TokenBatches,
/// with [train] batch_tokens; with [train] full_batch, a step is an epoch).
/// Forms: with labels, classification. Without labels, sequence_to_sequence or language_model:
/// - sequence_to_sequence: output tokens, a begin token and an end token; input and output use the same token numbers
///   if they share the vocabulary;
/// - language_model: input tokens, the begin token, output tokens, the end token; if the vocabularies differ, output
///   tokens are numbered after the input's tokens.
/// Throws heed::Refused if a required split has no example.
std::unique_ptr<Task> listed_task(const Config& config, Dataset dataset);

/// The accuracy of always guessing the most frequent output token of training, measured on validation. Only tokens that
/// accuracy counts are included; end tokens are included unless every output is one token.
Task::Chance commonest_output_token(const Dataset& dataset);

} // namespace heed
