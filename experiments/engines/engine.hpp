// The engine: a table of functions that check, train, evaluate and inspect runs. There is one table for each precision
// and each instruction set; `engine()` chooses one.
#pragma once

#include "experiments/operators/attention_operator.hpp"
#include "experiments/operators/recurrence_operator.hpp"
#include "experiments/training/training.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heed {

struct Engine {
  /// Throws heed::Refused for combinations that only the model can check (heads that do not divide the width, ...).
  void (*check)(const Config&, const Task&);
  Cost (*cost)(const Config&, const Task&);
  /// The model's parameters, in the order of a checkpoint.
  std::vector<ParameterShape> (*parameters)(const Config&, const Task&);
  /// Trains to the end or until asked to stop. `from` is a checkpoint to continue; the result is bit-identical to an
  /// uninterrupted run. Throws heed::Failed, for example for a NaN loss, with the step and the operation that first
  /// produced it.
  Outcome (*train)(const Config&, const Task&, const std::optional<Checkpoint>& from, const TrainingHooks&);
  /// Evaluates a checkpoint on a split: "val_loss" or "test_loss", accuracies and so on.
  MetricsRecord (*evaluate)(const Config&, const Task&, const Checkpoint&, Split);
  /// The score of each sequence of validation that training evaluates, in order.
  std::vector<ExampleScore> (*example_scores)(const Config&, const Task&, const Checkpoint&);
  /// Calls the function with each sequence of the split in order, with the model's output. sequence_to_sequence: what
  /// beam search finds, with the settings of [train] evaluate_beam (0: greedily). Otherwise: the most probable class of
  /// each target; in a language model, after the right tokens. Throws heed::Refused for tasks of running text.
  void (*outputs)(const Config&, const Task&, const Checkpoint&, Split,
                  const std::function<void(const ExampleOutput&)>&);
  /// Measures all InspectionParts of a checkpoint's model on a split's first `sequences` sequences (0: all sequences).
  /// Without a checkpoint, the model has its initial parameters.
  Inspection (*inspect)(const Config&, const Task&, const Checkpoint*, Split, std::int64_t sequences);
  /// The names of all metrics that [train] inspect measures in this model. It runs the model on one sequence.
  std::vector<std::string> (*inspected)(const Config&, const Task&);
  /// The attention weights of every head for each input. Throws heed::Refused for an input that the model can't read,
  /// and for a model without attention.
  std::vector<AttentionExample> (*attend)(const Config&, const Task&, const Checkpoint&,
                                          const std::vector<AttentionRequest>&);
  void (*generate)(const Config&, const Task&, const Checkpoint&, const Sampling&);
  /// The cost of attention in the configuration's first block, for a sequence of `length` tokens. The measurement is
  /// repeated for `seconds` seconds.
  AttentionCost (*attention_cost)(const Config&, std::int64_t length, double seconds);
  /// What masks, positions and formulas add to the scores of zero vectors, in the first block of each stack: of self
  /// attention, and of the decoder's cross attention. All sequences have `length` tokens, in two segments; or `length`
  /// patches, `patches_in_row` of them in a row of the image (0: no patches). Positions that add to the embeddings are
  /// left out. Parameters have their initial values.
  std::vector<AddedScores> (*added_scores)(const Config&, std::int64_t length, std::int64_t patches_in_row);
  /// The first query of each attention that may attend to no key: its masks and formulas hide all of them. It runs the
  /// model, with initial parameters, on the first sequence of validation.
  std::vector<QueryWithoutKeys> (*queries_without_keys)(const Config&, const Task&);
  /// Attention of the configuration's first block, for arrays of other programs. Throws heed::Refused or heed::Failed
  /// if the options and the sizes do not fit together.
  std::unique_ptr<AttentionOperator> (*attention_operator)(const Config&, const OperatorSizes&);
  RecurrenceOperator recurrence;
  std::string (*products)(); ///< the implementation of matrix products, for manifests
};

/// The engine for a configuration's precision and this instruction set (engines/instruction_sets.hpp). Throws
/// heed::Refused if it is not available.
const Engine& engine(const Config& config, const std::string& kernels);
/// The same, with the instruction set of the configuration, or else the fastest.
const Engine& engine(const Config& config);

} // namespace heed
