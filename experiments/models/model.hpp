// Models: from a batch of tokens to logits. One file each in kinds/, registered by a word in meson.build.
#pragma once

#include "autograd/parameters.hpp"
#include "experiments/tasks/task.hpp"
#include "layers/module.hpp"
#include "options/variant.hpp"

#include <memory>
#include <span>

namespace heed::HEED_REAL {

/// Rows that a model decodes token by token. What it keeps from step to step is its own memory, not the tape's, so that
/// the tape may be rewound between steps.
class Decoding {
public:
  virtual ~Decoding() = default;
  /// Each row's next token (the first: what begins an output) is read: [rows, classes], logits of what follows it.
  virtual Tensor step(Pass& pass, std::span<const std::int32_t> tokens) = 0;
  /// Each row's next tokens are read, [rows, any number], and nothing is asked of them; as so many steps, but for
  /// rounding. Without recording: all that it takes is given up.
  virtual void read(Pass& pass, std::int64_t rows, std::span<const std::int32_t> tokens);
  /// Row i goes on from what row parents[i] has read; their number may differ from the rows'.
  virtual void select(std::span<const std::int64_t> parents) = 0;
};

class Model {
public:
  virtual ~Model() = default;
  /// language_model: [rows, length, classes], the next token's logits at each position; sequence_to_sequence:
  /// [rows, output_length, classes], the same after each of the batch's outputs; the other forms: [rows, classes].
  virtual Tensor logits(Pass& pass, const Batch& batch) const = 0;

  /// Before the first token of each of the batch's rows (sequence_to_sequence: with its inputs; language_model:
  /// `tokens` are not looked at). Its logits are those that `logits` gives at the same places, but for rounding. Null
  /// where the model can't go step by step (start_decoding then computes every step from the beginning). The model must
  /// outlive it.
  virtual std::unique_ptr<Decoding> decoding(Pass&, const Batch& /*batch*/) const { return nullptr; }
};

struct ModelInfo {
  Variant about;
  Form form; ///< how it sees a task's examples
  /// Throws heed::Failed where the configuration's widths do not fit together.
  std::unique_ptr<Model> (*make)(const Scope& scope, const Config& config, const TaskShape& shape);
};

/// All registered models, in Meson's order (generated).
std::span<const ModelInfo* const> models();
const ModelInfo& model_info(const std::string& kind);

/// What parameters start with, as [init] has it; where it says nothing, weights are N(0, init_std^2).
InitRules init_rules(const Config& config);
/// What the projections that end a residual branch start with: as other linear maps, but normal weights are divided by
/// sqrt(2 layers) where [model] scaled_init is set (Radford et al. 2019, GPT-2).
InitRule residual_init(const Config& config);

/// Has the map to the logits a bias? [model] head_bias, where `usual` is what the model has without it.
bool has_head_bias(const Config& config, bool usual);

} // namespace heed::HEED_REAL
