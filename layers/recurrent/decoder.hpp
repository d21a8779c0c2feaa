// The recurrent decoder: it starts from the encoder's last states, and may attend to all of the encoder's states, or
// only to some source positions in each step. Its steps differ in how they attend: each kind is one file in
// attentions/, registered like scores.
#pragma once

#include "layers/attention/attention.hpp"
#include "layers/recurrent/recurrent.hpp"
#include "options/variant.hpp"

#include <memory>
#include <optional>
#include <span>

namespace heed::HEED_REAL {

/// c_t = sum_s w_ts m_s over the encoder's states m, with w_t = normaliser(s(h_t, m_1), s(h_t, m_2), ...) for any score
/// and normaliser. `reach` determines the source positions that step t sees (Luong, Pham and Manning 2015, arXiv
/// 1508.04025, section 3.2):
///   global:  all source positions
///   local_m: positions t - D .. t + D
///   local_p: positions within D of p_t = S sigmoid(v . tanh(W h_t)), where S is the source's length; the weights are
///            multiplied with exp(-(s - p_t)^2 / (2 (D / 2)^2))
/// Positions count from 0. A step that sees no source position gets zeros.
class SourceAttention {
public:
  struct Sizes {
    std::int64_t query_width = 0, memory_width = 0;
    std::int64_t longest = 0; ///< upper bound on the source length; 0: unknown
  };

  /// The score's parameters are named `score`; those of local_p's prediction are `place.hidden` (W) and `place.height`
  /// (v).
  SourceAttention(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options, const Sizes& sizes);

  struct Source {
    AttentionMemory memory;
    const std::int32_t* lengths; ///< [B]
  };
  /// states [B, S, memory_width]; positions at and beyond a sequence's length are padding. The lengths are not copied.
  Source read(Pass& pass, const Tensor& states, const std::int32_t* lengths) const;

  /// queries [B, T, query_width] of the steps first, first + 1, ...; the result is [B, T, memory_width].
  Tensor operator()(Pass& pass, const Tensor& queries, const Source& source, std::int64_t first) const;

private:
  Tensor around_predicted_places(Pass& pass, const Tensor& queries, const Source& source) const;

  Attention attend_;
  std::int64_t window_ = -1; // for local reach; -1: global
  std::optional<Linear> place_hidden_, place_height_;
};

struct DecoderSizes {
  std::int64_t width = 0;        ///< width of e_t, s_t and the result
  std::int64_t memory_width = 0; ///< width of the encoder's states
  std::int64_t longest = 0;      ///< upper bound on the source length; 0: unknown
};

/// The state of a decoder between two steps.
struct DecoderState {
  RecurrentStates cells;
  Tensor fed;            ///< [B, width]: a_{t-1}; empty without input feeding
  std::int64_t step = 0; ///< index of the next step
};

/// Turns the vectors e_t of the previous tokens into the vectors from which the next tokens are predicted. s_t is the
/// top layer's state, c_t is the output of attention for the step's query (SourceAttention), and [;] is concatenation.
class DecoderSteps {
public:
  using Source = std::optional<SourceAttention::Source>; ///< empty without attention

  virtual ~DecoderSteps() = default;

  /// Prepares the data that all steps use: the encoder's states [B, S, memory_width] and their lengths. The lengths are
  /// not copied.
  virtual Source read(Pass& /*pass*/, const Tensor& /*states*/, const std::int32_t* /*lengths*/) const { return {}; }

  virtual DecoderState begin(Pass& /*pass*/, RecurrentStates start) const { return {start, {}, 0}; }

  /// One step: e [B, width] to [B, width]. `state` is updated.
  virtual Tensor step(Pass& pass, const Tensor& e, DecoderState& state, const Source& source) const = 0;

  /// All steps: e [B, T, width] to [B, T, width]; `start`: the state of each layer before the first step.
  virtual Tensor all(Pass& pass, const Tensor& e, RecurrentStates start, const Source& source) const = 0;
};

/// The arguments for making a decoder.
struct DecoderParts {
  const LayerChoice& choice; ///< has the attention's score and normaliser
  const RecurrentOptions& options;
  const OptionValues& cell_options;      ///< the values of the cell's own table
  const OptionValues& attention_options; ///< the values of the attention's own table
  DecoderSizes sizes;

  /// Makes the recurrent layers, named `cells`. The first layer's input is e_t and `beside` further features.
  Recurrent cells(const Scope& scope, std::int64_t beside) const;
};

struct RecurrentAttentionInfo {
  Variant about;
  /// Adds its parameters to the scope.
  std::unique_ptr<DecoderSteps> (*make)(const Scope& scope, const DecoderParts& parts);
};

/// All registered kinds of decoder attention, in Meson's order (generated).
std::span<const RecurrentAttentionInfo* const> recurrent_attentions();
/// The kind with this name. Throws heed::Failed, which lists all names, if there is none.
const RecurrentAttentionInfo& recurrent_attention_info(const std::string& name);

/// Shared by decoders with attention: attention over the source, named `attention`, and the output layer tanh(W x + b),
/// named `readout`.
class AttendingParts {
public:
  /// read_width: the width of x.
  AttendingParts(const Scope& scope, const DecoderParts& parts, std::int64_t read_width, bool bias);

  SourceAttention::Source read(Pass& pass, const Tensor& states, const std::int32_t* lengths) const {
    return attention_.read(pass, states, lengths);
  }
  /// The contexts of queries [B, T, width]; the first query belongs to step `first`.
  Tensor contexts(Pass& pass, const Tensor& queries, const SourceAttention::Source& source, std::int64_t first) const {
    return attention_(pass, queries, source, first);
  }
  /// The context of one step's query [B, width].
  Tensor context(Pass& pass, const Tensor& query, const SourceAttention::Source& source, std::int64_t step) const;
  Tensor read_out(Pass& pass, std::initializer_list<Tensor> parts) const;

private:
  SourceAttention attention_;
  Linear readout_;
};

/// Turns [B, W] into a sequence of length one, [B, 1, W].
inline Tensor as_sequence(const Tensor& x) { return unsqueeze(x, 1); }

/// Iterates over the steps of e [B, T, width]. Results are stored in the arena, where closures and `concat` need them:
/// `keep` allocates one tensor per step.
class StepByStep {
public:
  StepByStep(Pass& pass, const Tensor& e);
  std::span<Tensor> keep() const;
  /// Calls f(t, e_t), with e_t [B, width], for each step in order. The steps' weights are packed once
  /// (Tape::PackedWeightCache).
  template <class F> void each(F&& f) const {
    const Tape::PackedWeightCache together(tape_);
    for (std::size_t t = 0; t < static_cast<std::size_t>(steps_); ++t) f(t, (*this)[t]);
  }

private:
  Tensor operator[](std::size_t t) const;

  Tape& tape_;
  std::int64_t steps_;
  Tensor by_step_; // [T, B, width]: a step's vectors are contiguous
};

/// Decodes with the steps that [recurrent] attention selects (attentions/). If no step needs the previous step's
/// attention (none, and luong without input feeding), all steps are computed in one operation.
class RecurrentDecoder {
public:
  using Sizes = DecoderSizes;
  using State = DecoderState;

  /// cell_options, attention_options: the values of the cell's and the attention's own tables.
  RecurrentDecoder(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options,
                   const OptionValues& cell_options, const Sizes& sizes, const OptionValues& attention_options = {});

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
