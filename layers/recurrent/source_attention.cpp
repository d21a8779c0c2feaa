#include "layers/recurrent/source_attention.hpp"

#include <cmath>

namespace heed::HEED_REAL {

SourceAttention::SourceAttention(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options,
                                 const Sizes& shape)
    : attend_(scope, choice, {1, shape.query_width, shape.memory_width, shape.longest}, AttentionPlace::Kind::cross) {
  if (options.reach != "global") window_ = options.window;
  if (options.reach != "local_p") return;
  const Init start = Init::uniform(1 / std::sqrt(static_cast<double>(shape.query_width)));
  const Scope place = (scope / "place").starting_by_itself_with(start);
  place_hidden_.emplace(place / "hidden", shape.query_width, shape.query_width, false);
  // without weight decay, like an additive score's v
  place_height_.emplace(place / "height", shape.query_width, 1, false, WeightDecay::no);
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
  const std::int64_t rows = queries.shape[0], steps = queries.shape[1], keys = source.memory.keys.shape[1];
  const Tensor lengths = tape.make({rows, 1, 1}), positions = tape.make({keys});
  for (std::int64_t b = 0; b < rows; ++b) lengths.data[b] = static_cast<Real>(source.lengths[b]);
  for (std::int64_t s = 0; s < keys; ++s) positions.data[s] = static_cast<Real>(s);
  const Tensor height = (*place_height_)(pass, tanh((*place_hidden_)(pass, queries)));
  const Tensor places = mul(sigmoid(height), lengths); // [B, T, 1]

  auto* allowed = tape.keep<std::uint8_t>(rows * steps * keys);
  for (std::int64_t i = 0; i < rows * steps; ++i)
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
