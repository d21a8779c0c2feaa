// The recurrent decoder: it starts from the encoder's last states, and may attend to all of the encoder's states.
#pragma once

#include "layers/recurrent/decoder_steps.hpp"

#include <memory>
#include <optional>

namespace heed::HEED_REAL {

/// Decodes with the steps that [recurrent] attention selects (attentions/). If no step needs the previous step's
/// attention (none, and luong without input feeding), all steps are computed in one operation.
class RecurrentDecoder {
public:
  using Shape = DecoderSizes;
  using State = DecoderState;

  /// cell_options, attention_options: the values of the cell's and the attention's own tables.
  RecurrentDecoder(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options,
                   const OptionValues& cell_options, const Shape& shape, const OptionValues& attention_options = {});

  /// Prepares the data that all steps use: the encoder's states [B, S, memory_width] and their lengths. The lengths are
  /// not copied. Empty without attention.
  std::optional<SourceAttention::Source> read(Pass& pass, const Tensor& states, const std::int32_t* lengths) const {
    return steps_->read(pass, states, lengths);
  }

  /// e [B, T, width] to [B, T, width]; `start`: the state of each layer before the first step.
  Tensor operator()(Pass& pass, const Tensor& e, RecurrentStates start,
                    const std::optional<SourceAttention::Source>& source) const;

  State begin(Pass& pass, RecurrentStates start) const { return steps_->begin(pass, start); }
  /// One step: e [B, width] to [B, width]. `state` is updated.
  Tensor step(Pass& pass, const Tensor& e, State& state, const std::optional<SourceAttention::Source>& source) const {
    return steps_->step(pass, e, state, source);
  }

private:
  std::unique_ptr<const DecoderSteps> steps_;
};

} // namespace heed::HEED_REAL
