// A recurrent decoder: states that go on from an encoder's last, with or without attention over all of the encoder's.
#pragma once

#include "layers/recurrent/recurrent.hpp"
#include "layers/recurrent/source_attention.hpp"

#include <optional>

namespace heed::HEED_REAL {

/// From the vectors e_t of the tokens before to vectors that the tokens after are read from, s_t being the top layer's
/// state, c_t what attention gives for its query (SourceAttention), [;] concatenation:
///   none:     s_t = step(e_t, s_{t-1});                                                    the vector is s_t
///   bahdanau: c_t from the query s_{t-1}; s_t = step([e_t; c_t], s_{t-1});                 tanh(W [s_t; c_t; e_t] + b)
///             (arXiv 1409.0473, with tanh for its maxout)
///   luong:    s_t = step(e_t, s_{t-1}); c_t from the query s_t;                            a_t = tanh(W [c_t; s_t])
///             with input feeding s_t = step([e_t; a_{t-1}], s_{t-1}), a_0 = 0 (arXiv 1508.04025)
/// Where no step needs what the one before it saw (none, and luong without input feeding), all steps are one operation.
class RecurrentDecoder {
public:
  struct Shape {
    std::int64_t width = 0;         ///< of e_t, s_t and the result
    std::int64_t memory_width = 0;  ///< of the encoder's states
    std::int64_t longest = 0;       ///< source; 0: not known
  };

  /// Parameters are named `cells`, `attention` and `readout` (W, b). cell_options: of the cell's own table.
  RecurrentDecoder(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options,
                   const OptionValues& cell_options, const Shape& shape);

  /// What stays the same over the steps: the encoder's states [B, S, memory_width] and their lengths, which are not
  /// copied. Empty without attention.
  std::optional<SourceAttention::Source> read(Pass& pass, const Tensor& states, const std::int32_t* lengths) const;

  /// e [B, T, width] to [B, T, width]; `start`: the state of each layer before the first step.
  Tensor operator()(Pass& pass, const Tensor& e, RecurrentStates start,
                    const std::optional<SourceAttention::Source>& source) const;

  /// Between two steps.
  struct State {
    RecurrentStates cells;
    Tensor fed;            ///< [B, width]: a_{t-1}; empty without input feeding
    std::int64_t step = 0; ///< the number of the next
  };
  State begin(Pass& pass, RecurrentStates start) const;
  /// One step: e [B, width] to [B, width]; `state` becomes that after it.
  Tensor step(Pass& pass, const Tensor& e, State& state, const std::optional<SourceAttention::Source>& source) const;

private:
  struct Seen {
    Tensor state, context;  // [B, width], [B, memory_width]
  };
  Seen attend_then_step(Pass& pass, const Tensor& e, State& state, const SourceAttention::Source& source) const;
  Tensor read_out(Pass& pass, std::initializer_list<Tensor> parts) const;

  bool attends_before_, feeds_;
  double dropout_;
  Recurrent cells_;
  std::optional<SourceAttention> attention_;
  std::optional<Linear> readout_;
};

} // namespace heed::HEED_REAL
