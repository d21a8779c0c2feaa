#include "layers/recurrent/decoder_steps.hpp"

#include <cmath>

namespace heed::HEED_REAL {

const RecurrentAttentionInfo& recurrent_attention_info(const std::string& name) {
  return variant_named(recurrent_attentions(), name, "[recurrent] there is no attention");
}

Recurrent DecoderParts::cells(const Scope& scope, std::int64_t beside) const {
  return {scope / "cells",
          options.cell,
          cell_options,
          {.input_width = shape.width + beside,
           .width = shape.width,
           .layers = options.layers,
           .dropout = options.dropout}};
}

AttendingParts::AttendingParts(const Scope& scope, const DecoderParts& parts, std::int64_t read_width, bool bias)
    : attention_(scope / "attention", parts.choice, parts.options,
                 {parts.shape.width, parts.shape.memory_width, parts.shape.longest}),
      readout_(
          (scope / "readout").starting_by_itself_with(Init::uniform(1 / std::sqrt(static_cast<double>(read_width)))),
          read_width, parts.shape.width, bias) {}

Tensor AttendingParts::context(Pass& pass, const Tensor& query, const SourceAttention::Source& source,
                               std::int64_t step) const {
  const Tensor x = contexts(pass, as_sequence(query), source, step);
  return reshape(x, {x.shape[0], x.shape[2]});
}

Tensor AttendingParts::read_out(Pass& pass, std::initializer_list<Tensor> parts) const {
  const Tensor all = concat(parts, -1);
  return tanh(readout_(pass, all));
}

StepByStep::StepByStep(Pass& pass, const Tensor& e)
    : tape_(pass.tape()), steps_(e.shape[1]), by_step_(contiguous(transpose(e, 0, 1))) {}

std::span<Tensor> StepByStep::keep() const { return {tape_.keep<Tensor>(steps_), static_cast<std::size_t>(steps_)}; }

Tensor StepByStep::operator[](std::size_t t) const {
  return reshape(slice(by_step_, 0, static_cast<std::int64_t>(t), 1), {by_step_.shape[1], by_step_.shape[2]});
}

} // namespace heed::HEED_REAL
