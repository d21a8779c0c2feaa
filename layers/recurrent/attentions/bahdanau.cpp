#include "layers/recurrent/decoder.hpp"

namespace heed::HEED_REAL {

namespace {

class Bahdanau : public DecoderSteps {
public:
  Bahdanau(const Scope& scope, const DecoderParts& parts)
      : dropout_(parts.options.dropout), cells_(parts.cells(scope, parts.sizes.memory_width)),
        attending_(scope, parts, parts.sizes.memory_width + 2 * parts.sizes.width, true) {}

  Source read(Pass& pass, const Tensor& states, const std::int32_t* lengths) const override {
    return attending_.read(pass, states, lengths);
  }

  Tensor step(Pass& pass, const Tensor& e, DecoderState& state, const Source& source) const override {
    const Seen seen = attend_then_step(pass, e, state, *source);
    return attending_.read_out(pass, {pass.dropout(seen.state, dropout_), seen.context, e});
  }

  Tensor all(Pass& pass, const Tensor& e, RecurrentStates start, const Source& source) const override {
    DecoderState state = begin(pass, start);
    const StepByStep steps(pass, e);
    const std::span<Tensor> out = steps.keep(), contexts = steps.keep();
    steps.each([&](std::size_t t, const Tensor& e_t) {
      const Seen seen = attend_then_step(pass, e_t, state, *source);
      out[t] = as_sequence(seen.state);
      contexts[t] = as_sequence(seen.context);
    });
    const Tensor states = concat(out, 1);
    return attending_.read_out(pass, {pass.dropout(states, dropout_), concat(contexts, 1), e});
  }

private:
  struct Seen {
    Tensor state, context; // [B, width], [B, memory_width]
  };
  Seen attend_then_step(Pass& pass, const Tensor& e, DecoderState& state, const SourceAttention::Source& source) const {
    const Tensor context = attending_.context(pass, state.cells.back().h, source, state.step++);
    const Recurrent::Step step = cells_.step(pass, concat({e, context}, 1), state.cells);
    state.cells = step.state;
    return {step.output, context};
  }

  double dropout_;
  Recurrent cells_;
  AttendingParts attending_;
};

} // namespace

extern const RecurrentAttentionInfo recurrent_attention_bahdanau{
    .about = {.name = "bahdanau",
              .summary = "c_t from the query s_{t-1}, before the step; s_t = step([e_t; c_t], s_{t-1}); the output is "
                         "predicted from tanh(W [s_t; c_t; e_t] + b)",
              .paper = "Bahdanau, Cho and Bengio 2015, arXiv 1409.0473, with tanh in place of its maxout",
              .cost = "(2 width + memory) width + width parameters in addition to the score's, and gates width memory "
                      "in the first cell, memory the width of the encoder's states; one step after the other",
              .uses = {"recurrent.reach"}},
    .make = [](const Scope& scope, const DecoderParts& parts) -> std::unique_ptr<DecoderSteps> {
      return std::make_unique<Bahdanau>(scope, parts);
    }};

} // namespace heed::HEED_REAL
