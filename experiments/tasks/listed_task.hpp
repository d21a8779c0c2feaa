// What tasks with a list of examples share: epochs, buckets of like lengths, the forms, text for tokens. A task's own
// file makes the lists.
#pragma once

#include "experiments/data/data_cache.hpp"
#include "experiments/data/vocabulary.hpp"
#include "experiments/tasks/example_list.hpp"
#include "experiments/tasks/task.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace heed {

/// What a listed task is.
struct Dataset {
  std::string name; ///< the task's kind
  std::string fingerprint;
  std::array<ExampleList, 3> examples; ///< by Split; outputs are tokens of `output`, or one label
  /// By Split: of validation and test, what outputs are in the data's words; empty where that is their tokens' text.
  std::array<std::vector<Task::Reference>, 3> references;
  std::array<std::string, 3> files; ///< by Split: where examples are from; empty where no file is read
  std::shared_ptr<const Vocabulary> input;
  std::shared_ptr<const Vocabulary> output; ///< the same object as `input` where they share one; null with labels
  std::vector<std::string> labels;          ///< classification: the classes' names; else empty
  Task::Chance chance{};
  std::vector<std::string> notes;             ///< for `heed data`: what was dropped or cut, and why
  std::shared_ptr<const DataCache> kept = {}; ///< what the examples lie in; null: in memory
};

/// The task of a list. Training goes through its examples epoch after epoch (see TrainingOrder, with [data] bucket;
/// TokenBatches, with [train] batch_tokens; with [train] full_batch, a step is an epoch).
/// Forms: with labels, classification; else sequence_to_sequence (output tokens, then one that begins and one that ends
/// them; input and output share their numbering where they share the vocabulary) and language_model (input tokens, the
/// token that begins an output, output tokens and the one that ends them; where the vocabularies differ, output tokens
/// are numbered after those of the input).
/// Throws heed::Refused where a split that is needed has no example.
std::unique_ptr<Task> listed_task(const Config& config, Dataset dataset);

/// The share of outputs' tokens that the commonest of them in training makes up in validation: of those tokens that
/// accuracy counts, so ends are among them but where every output is one token.
Task::Chance commonest_output_token(const Dataset& dataset);

} // namespace heed
