#include "experiments/models/recurrent_parts.hpp"

#include "experiments/config/config.hpp"

namespace heed::HEED_REAL {

namespace {

std::int64_t direction_width(const Config& config, bool both_directions) {
  if (!both_directions) return config.model.width;
  if (config.model.width % 2 != 0)
    throw Failed(fmt::format("[recurrent] bidirectional = true halves model.width, which is {}: make it even, or set "
                             "recurrent.bidirectional = false",
                             config.model.width));
  return config.model.width / 2;
}

} // namespace

RecurrentEncoder::RecurrentEncoder(const Scope& scope, const Config& config, const TaskSizes& shape, bool both)
    : embedding(scope / "embedding", shape.vocabulary, config.model.width),
      layers(scope / "encoder", config.recurrent.cell, config.recurrent_options,
             {.input_width = config.model.width,
              .width = direction_width(config, both),
              .layers = config.recurrent.layers,
              .both_directions = both,
              .dropout = config.recurrent.dropout}),
      both_directions(both), embedding_dropout(config.model.dropout), dropout(config.recurrent.dropout) {}

RecurrentEncoder::Result RecurrentEncoder::operator()(Pass& pass, const Batch& batch) const {
  const Tensor e = embedding(pass, batch.tokens.data(), {batch.rows, batch.length});
  const Recurrent::Result r = layers(pass, pass.dropout(e, embedding_dropout), batch.lengths.data());
  const Tensor states = pass.dropout(r.states, dropout);
  if (!both_directions) return {states, r.last};
  const std::size_t count = r.last.size() / 2;
  auto* joined = pass.tape().keep<RecurrentState>(static_cast<std::int64_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const RecurrentState &forward = r.last[2 * i], &backward = r.last[2 * i + 1];
    joined[i] = {concat({forward.h, backward.h}, 1), forward.c.tape ? concat({forward.c, backward.c}, 1) : Tensor{}};
  }
  return {states, {joined, count}};
}

} // namespace heed::HEED_REAL
