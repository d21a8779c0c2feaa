// A recurrent decoder: states that go on from an encoder's last, with or without attention over all of the encoder's.
#pragma once

#include "layers/recurrent/decoder_steps.hpp"

#include <memory>
#include <optional>

namespace heed::HEED_REAL {

/// Steps as [recurrent] attention says (attentions/). Where no step needs what the one before it saw (none, and luong
/// without input feeding), all steps are one operation.
class RecurrentDecoder {
public:
  using Shape = DecoderShape;
  using State = DecoderState;

  /// cell_options, attention_options: of the cell's and the attention's own tables.
  RecurrentDecoder(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options,
                   const OptionValues& cell_options, const Shape& shape, const OptionValues& attention_options = {});

  /// What stays the same over the steps: the encoder's states [B, S, memory_width] and their lengths, which are not
  /// copied. Empty without attention.
  std::optional<SourceAttention::Source> read(Pass& pass, const Tensor& states, const std::int32_t* lengths) const {
    return steps_->read(pass, states, lengths);
  }

  /// e [B, T, width] to [B, T, width]; `start`: the state of each layer before the first step.
  Tensor operator()(Pass& pass, const Tensor& e, RecurrentStates start,
                    const std::optional<SourceAttention::Source>& source) const;

  State begin(Pass& pass, RecurrentStates start) const { return steps_->begin(pass, start); }
  /// One step: e [B, width] to [B, width]; `state` becomes that after it.
  Tensor step(Pass& pass, const Tensor& e, State& state, const std::optional<SourceAttention::Source>& source) const {
    return steps_->step(pass, e, state, source);
  }

private:
  std::unique_ptr<const DecoderSteps> steps_;
};

} // namespace heed::HEED_REAL
