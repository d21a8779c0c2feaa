// The interface of models, from a batch of tokens to logits. Each model is a file in kinds/, registered by a word in
// meson.build.
#pragma once

#include "autograd/parameters.hpp"
#include "experiments/config/registry.hpp"
#include "experiments/tasks/task.hpp"
#include "layers/module.hpp"
#include "options/variant.hpp"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// Decodes sequences token by token. The state between steps is in memory of its own, not on the tape, so the tape can
/// be rewound between steps.
class Decoding {
public:
  virtual ~Decoding() = default;
  /// Reads the next token of each sequence (at the first step: the begin token) and returns the logits of the token
  /// after it, [sequences, classes].
  virtual Tensor step(Pass& pass, std::span<const std::int32_t> tokens) = 0;
  /// Reads the next tokens of each sequence, [sequences, any number], without returning logits. Except for rounding,
  /// the effect is the same as that of one step per token. If the tape does not record, all memory that this takes on
  /// the tape is released.
  virtual void read(Pass& pass, std::int64_t sequences, std::span<const std::int32_t> tokens);
  /// Sequence i continues from the state of sequence parents[i]. The number of parents may differ from the number of
  /// sequences.
  virtual void select(std::span<const std::int64_t> parents) = 0;
  /// How many numbers are stored for one sequence once `more` further tokens are read, after at least one: keys and
  /// values, states of recurrences, and what is stored of the encoder output. Tokens are no such numbers.
  virtual std::int64_t state_size(std::int64_t more) const = 0;
};

class Model {
public:
  virtual ~Model() = default;
  /// Returns logits. language_model: [sequences, length, classes], for the next token at each position;
  /// sequence_to_sequence: [sequences, output_length, classes], for the next token at each output position; other
  /// formats: [sequences, classes].
  virtual Tensor logits(Pass& pass, const Batch& batch) const = 0;

  /// Starts decoding before the first token of each sequence of the batch (sequence_to_sequence: with its inputs;
  /// language_model: `tokens` are ignored). The logits of its steps equal those of `logits` at the same positions,
  /// except for rounding. Null if the model cannot decode step by step (start_decoding then recomputes every step from
  /// the beginning). The model must outlive the returned object.
  virtual std::unique_ptr<Decoding> decoding(Pass&, const Batch& /*batch*/) const { return nullptr; }
};

struct ModelInfo {
  Variant about;
  TaskFormat format; ///< the format in which it gets a task's examples
  /// Throws heed::Failed if the configuration's widths do not fit together.
  std::unique_ptr<Model> (*make)(const Scope& scope, const Config& config, const TaskSizes& sizes);
  /// The names of its stacks of blocks, in order. A second stack has `Config::decoder_layers`.
  std::vector<std::string> stacks = {};
};

/// All registered models, in Meson's order (generated).
std::span<const ModelInfo* const> models();
const ModelInfo& model_info(const std::string& kind);

/// The initialisation of parameters, as [init] defines it. The default for weights is N(0, init_std^2).
InitRules init_rules(const Config& config);
/// The initialisation of the last linear layer of a residual branch. It is the same as for other linear layers, but
/// normal weights are divided by sqrt(2 layers) if [model] scaled_init is set (Radford et al. 2019, GPT-2).
InitRule residual_init(const Config& config);

/// Why no model of this configuration can be made, whatever the task: an exclusion, or widths that do not fit together;
/// none: it can. `of_model`: the values of options outside of blocks that have an effect.
std::optional<WrongChoice> wrong_choice(const Config& config, const std::map<std::string, Value>& of_model);

/// True if the output layer has a bias: [model] head_bias, where the word `usual` selects the argument `usual`.
bool has_head_bias(const Config& config, bool usual);

} // namespace heed::HEED_REAL
