#include "layers/recurrent/decoder.hpp"

namespace heed::HEED_REAL {

namespace {

class Luong : public DecoderSteps {
public:
  Luong(const Scope& scope, const DecoderParts& parts)
      : feeds_(parts.options.input_feeding), dropout_(parts.options.dropout),
        cells_(parts.cells(scope, feeds_ ? parts.sizes.width : 0)),
        attending_(scope, parts, parts.sizes.memory_width + parts.sizes.width, false) {}

  Source read(Pass& pass, const Tensor& states, const std::int32_t* lengths) const override {
    return attending_.read(pass, states, lengths);
  }

  DecoderState begin(Pass& pass, RecurrentStates start) const override {
    return {start, feeds_ ? pass.tape().zeros(start.back().h.shape) : Tensor{}, 0};
  }

  Tensor step(Pass& pass, const Tensor& e, DecoderState& state, const Source& source) const override {
    const Recurrent::Step step = cells_.step(pass, feeds_ ? concat({e, state.fed}, 1) : e, state.cells);
    state.cells = step.state;
    const Tensor s = pass.dropout(step.output, dropout_);
    const Tensor context = attending_.context(pass, step.output, *source, state.step++);
    const Tensor a = attending_.read_out(pass, {context, s});
    if (feeds_) state.fed = a;
    return a;
  }

  Tensor all(Pass& pass, const Tensor& e, RecurrentStates start, const Source& source) const override {
    if (!feeds_) {
      const Tensor states = cells_(pass, e, nullptr, start).states;
      const Tensor s = pass.dropout(states, dropout_);
      return attending_.read_out(pass, {attending_.contexts(pass, contiguous(states), *source, 0), s});
    }
    DecoderState state = begin(pass, start);
    const StepByStep steps(pass, e);
    const std::span<Tensor> out = steps.keep();
    steps.each([&](std::size_t t, const Tensor& e_t) { out[t] = as_sequence(step(pass, e_t, state, source)); });
    return concat(out, 1);
  }

private:
  bool feeds_;
  double dropout_;
  Recurrent cells_;
  AttendingParts attending_;
};

} // namespace

extern const RecurrentAttentionInfo recurrent_attention_luong{
    .about = {.name = "luong",
              .summary = "s_t = step(e_t, s_{t-1}); c_t from the query s_t, after the step; the output is predicted "
                         "from a_t = tanh(W [c_t; s_t]); with input feeding s_t = step([e_t; a_{t-1}], s_{t-1}), a_0 = "
                         "0",
              .paper = "Luong, Pham and Manning 2015, arXiv 1508.04025",
              .cost = "(width + memory) width parameters in addition to the score's, memory the width of the encoder's "
                      "states, and with input feeding gates width^2 in the first cell, and one step after the other",
              .uses = {"recurrent.input_feeding", "recurrent.reach"}},
    .make = [](const Scope& scope, const DecoderParts& parts) -> std::unique_ptr<DecoderSteps> {
      return std::make_unique<Luong>(scope, parts);
    }};

} // namespace heed::HEED_REAL
