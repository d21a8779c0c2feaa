#include "layers/recurrent/decoder.hpp"

#include <cmath>

namespace heed::HEED_REAL {

const RecurrentAttentionInfo& recurrent_attention_info(const std::string& name) {
  return variant_named(recurrent_attentions(), name, "[recurrent] there is no attention");
}

Recurrent DecoderParts::cells(const Scope& scope, std::int64_t beside) const {
  return {scope / "cells",
          options.cell,
          cell_options,
          {.input_width = sizes.width + beside,
           .width = sizes.width,
           .layers = options.layers,
           .dropout = options.dropout}};
}

AttendingParts::AttendingParts(const Scope& scope, const DecoderParts& parts, std::int64_t read_width, bool bias)
    : attention_(scope / "attention", parts.choice, parts.options,
                 {parts.sizes.width, parts.sizes.memory_width, parts.sizes.longest}),
      readout_(
          (scope / "readout").starting_by_itself_with(Init::uniform(1 / std::sqrt(static_cast<double>(read_width)))),
          read_width, parts.sizes.width, bias) {}

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

RecurrentDecoder::RecurrentDecoder(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options,
                                   const OptionValues& cell_options, const Sizes& sizes,
                                   const OptionValues& attention_options)
    : steps_(recurrent_attention_info(options.attention)
                 .make(scope, {choice, options, cell_options, attention_options, sizes})) {}

Tensor RecurrentDecoder::operator()(Pass& pass, const Tensor& e, RecurrentStates start,
                                    const std::optional<SourceAttention::Source>& source) const {
  const Op op("recurrent_decoder", {&e});
  op.check(e.rank() == 3, "the tokens' vectors must be [B, T, width], they are {}", e.shape.text());
  return steps_->all(pass, e, start, source);
}

SourceAttention::SourceAttention(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options,
                                 const Sizes& sizes)
    : attend_(scope, choice, {1, sizes.query_width, sizes.memory_width, sizes.longest}, AttentionPlace::Kind::cross) {
  if (options.reach != "global") window_ = options.window;
  if (options.reach != "local_p") return;
  const Init start = Init::uniform(1 / std::sqrt(static_cast<double>(sizes.query_width)));
  const Scope place = (scope / "place").starting_by_itself_with(start);
  place_hidden_.emplace(place / "hidden", sizes.query_width, sizes.query_width, false);
  // without weight decay, like an additive score's v
  place_height_.emplace(place / "height", sizes.query_width, 1, false, WeightDecay::no);
}

SourceAttention::Source SourceAttention::read(Pass& pass, const Tensor& states, const std::int32_t* lengths) const {
  return {attend_.encode_memory(pass, contiguous(states)), lengths};
}

Tensor SourceAttention::operator()(Pass& pass, const Tensor& queries, const Source& source, std::int64_t first) const {
  if (place_hidden_) return around_predicted_places(pass, queries, source);
  return attend_(pass, queries, source.memory, {.offset = first, .window = window_, .lengths = source.lengths});
}

Tensor SourceAttention::around_predicted_places(Pass& pass, const Tensor& queries, const Source& source) const {
  Tape& tape = pass.tape();
  const std::int64_t sequences = queries.shape[0], steps = queries.shape[1], keys = source.memory.keys.shape[1];
  const Tensor lengths = tape.make({sequences, 1, 1}), positions = tape.make({keys});
  for (std::int64_t b = 0; b < sequences; ++b) lengths.data[b] = static_cast<Real>(source.lengths[b]);
  for (std::int64_t s = 0; s < keys; ++s) positions.data[s] = static_cast<Real>(s);
  const Tensor height = (*place_height_)(pass, tanh((*place_hidden_)(pass, queries)));
  const Tensor places = mul(sigmoid(height), lengths); // [B, T, 1]

  auto* allowed = tape.keep<std::uint8_t>(sequences * steps * keys);
  for (std::int64_t i = 0; i < sequences * steps; ++i)
    for (std::int64_t s = 0; s < keys; ++s)
      allowed[i * keys + s] = std::abs(static_cast<Real>(s) - places.data[i]) <= static_cast<Real>(window_);
  const Real deviation = static_cast<Real>(window_) / 2;
  const Tensor from_place = sub(positions, places); // [B, T, S]
  const Tensor near = exp(scale(mul(from_place, from_place), -1 / (2 * deviation * deviation)));
  const Tensor factors = unsqueeze(near, 1);
  return attend_(pass, queries, source.memory, {.lengths = source.lengths, .allowed = allowed, .allowed_shared = false},
                 &factors);
}

} // namespace heed::HEED_REAL
