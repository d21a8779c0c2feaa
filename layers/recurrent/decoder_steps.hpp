// How a recurrent decoder goes from step to step, by how it looks at the source. One file each in attentions/,
// registered like scores.
#pragma once

#include "layers/recurrent/recurrent.hpp"
#include "layers/recurrent/source_attention.hpp"
#include "options/variant.hpp"

#include <memory>
#include <optional>
#include <span>

namespace heed::HEED_REAL {

struct DecoderShape {
  std::int64_t width = 0;        ///< of e_t, s_t and the result
  std::int64_t memory_width = 0; ///< of the encoder's states
  std::int64_t longest = 0;      ///< source; 0: not known
};

/// Between two steps.
struct DecoderState {
  RecurrentStates cells;
  Tensor fed;            ///< [B, width]: a_{t-1}; empty without input feeding
  std::int64_t step = 0; ///< the number of the next
};

/// From the vectors e_t of the tokens before to vectors that the tokens after are read from, s_t being the top layer's
/// state, c_t what attention gives for its query (SourceAttention), [;] concatenation.
class DecoderSteps {
public:
  using Source = std::optional<SourceAttention::Source>; ///< empty without attention

  virtual ~DecoderSteps() = default;

  /// What stays the same over the steps: the encoder's states [B, S, memory_width] and their lengths, which are not
  /// copied.
  virtual Source read(Pass& /*pass*/, const Tensor& /*states*/, const std::int32_t* /*lengths*/) const { return {}; }

  virtual DecoderState begin(Pass& /*pass*/, RecurrentStates start) const { return {start, {}, 0}; }

  /// One step: e [B, width] to [B, width]; `state` becomes that after it.
  virtual Tensor step(Pass& pass, const Tensor& e, DecoderState& state, const Source& source) const = 0;

  /// All of them: e [B, T, width] to [B, T, width]; `start`: the state of each layer before the first.
  virtual Tensor all(Pass& pass, const Tensor& e, RecurrentStates start, const Source& source) const = 0;
};

/// What a decoder is made with.
struct DecoderParts {
  const LayerChoice& choice; ///< the attention's score and normaliser
  const RecurrentOptions& options;
  const OptionValues& cell_options;      ///< of the cell's own table
  const OptionValues& attention_options; ///< of the attention's own table
  DecoderShape shape;

  /// Its layers, named `cells`, whose first reads so many numbers beside e_t.
  Recurrent cells(const Scope& scope, std::int64_t beside) const;
};

struct RecurrentAttentionInfo {
  Variant about;
  /// Adds its parameters to the scope.
  std::unique_ptr<DecoderSteps> (*make)(const Scope& scope, const DecoderParts& parts);
};

/// All registered ways to look at the source, in Meson's order (generated).
std::span<const RecurrentAttentionInfo* const> recurrent_attentions();
/// The one of that name; heed::Failed lists the names if there is none.
const RecurrentAttentionInfo& recurrent_attention_info(const std::string& name);

/// What decoders with attention have: attention over the source, named `attention`, and tanh(W x + b), named `readout`,
/// for the vectors that they put out.
class AttendingParts {
public:
  /// read_width: of x.
  AttendingParts(const Scope& scope, const DecoderParts& parts, std::int64_t read_width, bool bias);

  SourceAttention::Source read(Pass& pass, const Tensor& states, const std::int32_t* lengths) const {
    return attention_.read(pass, states, lengths);
  }
  /// Of queries [B, T, width], the first of which is of step `first`.
  Tensor contexts(Pass& pass, const Tensor& queries, const SourceAttention::Source& source, std::int64_t first) const {
    return attention_(pass, queries, source, first);
  }
  /// Of one step's query [B, width].
  Tensor context(Pass& pass, const Tensor& query, const SourceAttention::Source& source, std::int64_t step) const;
  Tensor read_out(Pass& pass, std::initializer_list<Tensor> parts) const;

private:
  SourceAttention attention_;
  Linear readout_;
};

/// One row of a sequence as a sequence of one: [B, W] to [B, 1, W].
inline Tensor as_sequence(const Tensor& x) { return unsqueeze(x, 1); }

/// The steps of e [B, T, width], one after the other. What they leave stands in the arena, as closures and `concat`
/// want it: `keep` makes room for as many tensors as there are steps.
class StepByStep {
public:
  StepByStep(Pass& pass, const Tensor& e);
  std::span<Tensor> keep() const;
  /// f(t, e_t), with e_t [B, width], for one step after the other, whose weights are made ready once (Tape::PackedWeightCache).
  template <class F> void each(F&& f) const {
    const Tape::PackedWeightCache together(tape_);
    for (std::size_t t = 0; t < static_cast<std::size_t>(steps_); ++t) f(t, (*this)[t]);
  }

private:
  Tensor operator[](std::size_t t) const;

  Tape& tape_;
  std::int64_t steps_;
  Tensor by_step_; // [T, B, width]: a step's rows stand together
};

} // namespace heed::HEED_REAL
