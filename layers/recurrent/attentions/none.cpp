#include "layers/recurrent/decoder.hpp"

namespace heed::HEED_REAL {

namespace {

class WithoutAttention : public DecoderSteps {
public:
  WithoutAttention(const Scope& scope, const DecoderParts& parts)
      : dropout_(parts.options.dropout), cells_(parts.cells(scope, 0)) {}

  Tensor step(Pass& pass, const Tensor& e, DecoderState& state, const Source&) const override {
    const Recurrent::Step step = cells_.step(pass, e, state.cells);
    state.cells = step.state;
    return pass.dropout(step.output, dropout_);
  }

  Tensor all(Pass& pass, const Tensor& e, RecurrentStates start, const Source&) const override {
    const Tensor states = cells_(pass, e, nullptr, start).states;
    return pass.dropout(states, dropout_);
  }

private:
  double dropout_;
  Recurrent cells_;
};

} // namespace

extern const RecurrentAttentionInfo recurrent_attention_none{
    .about = {.name = "none",
              .summary = "s_t = step(e_t, s_{t-1}), from which the output is predicted; of the source, the decoder "
                         "gets only its initial states",
              .paper = "Sutskever, Vinyals and Le 2014, arXiv 1409.3215",
              .cost = "nothing in addition to the cells; all steps are one operation",
              .disables = {"init.linear", "attention"}},
    .make = [](const Scope& scope, const DecoderParts& parts) -> std::unique_ptr<DecoderSteps> {
      return std::make_unique<WithoutAttention>(scope, parts);
    }};

} // namespace heed::HEED_REAL
