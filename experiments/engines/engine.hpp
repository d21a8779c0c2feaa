// All that runs are asked for, whatever their precision: a table of functions, of which there is one for each precision and
// each kind of kernels. `engine()` picks one.
#pragma once

#include "experiments/training/training.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed {

struct Engine {
  /// Refuses combinations that only the model can judge (heads that do not divide the width, ...): heed::Refused.
  void (*check)(const Config&, const Task&);
  Cost (*cost)(const Config&, const Task&);
  /// Trains to the end or until asked to stop. `from` continues a checkpoint: the same bits as without the break.
  /// Throws heed::Failed (a NaN loss: with the step and the op that first made it).
  Outcome (*train)(const Config&, const Task&, const std::optional<Checkpoint>& from, const TrainingHooks&);
  /// Evaluates a checkpoint on a split: "val_loss" or "test_loss", accuracies and so on.
  MetricsRecord (*evaluate)(const Config&, const Task&, const Checkpoint&, Split);
  /// InspectionParts inside a checkpoint's model at work on a split's first `rows` rows (0: all): all that there is to see. Without
  /// a checkpoint, the model is as it starts.
  Inspection (*inspect)(const Config&, const Task&, const Checkpoint*, Split, std::int64_t rows);
  /// The names of all that [train] inspect measures in this model. It looks at one row.
  std::vector<std::string> (*inspected)(const Config&, const Task&);
  /// Every head's weights for each of the inputs. Throws heed::Refused for an input that the model can't read, and for
  /// a model without attention.
  std::vector<AttentionExample> (*attend)(const Config&, const Task&, const Checkpoint&,
                                          const std::vector<AttentionRequest>&);
  void (*generate)(const Config&, const Task&, const Checkpoint&, const Sampling&);
  /// Of the configuration's first block, over a row of so many tokens; measured again for so many seconds.
  AttentionCost (*attention_cost)(const Config&, std::int64_t length, double seconds);
  std::string (*products)(); ///< who multiplies matrices, for manifests
};

/// The engine for a configuration's precision, with these kernels (engines/kernels.hpp). Throws heed::Refused where it
/// can't be had.
const Engine& engine(const Config& config, const std::string& kernels);
/// The same, with the kernels that the configuration asks for, or else the fastest.
const Engine& engine(const Config& config);

} // namespace heed
