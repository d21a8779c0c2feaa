#include "experiments/models/transformer_decoding.hpp"

#include <numeric>

namespace heed::HEED_REAL {

TransformerDecoding::TransformerDecoding(Pass& pass, const Transformer& decoder,
                                         std::function<Tensor(Pass&, const Tensor&)> output, const Tensor& memory,
                                         std::span<const std::int32_t> lengths)
    : TransformerDecoding(decoder, std::move(output)) {
  memory_lengths_.assign(lengths.begin(), lengths.end());
  sources_.resize(lengths.size());
  std::iota(sources_.begin(), sources_.end(), 0);
  const Memory kept{.vectors = memory, .lengths = nullptr};
  past_ = decoder_.start(pass, &kept);
}

Tensor TransformerDecoding::step(Pass& pass, std::span<const std::int32_t> tokens) {
  const Tensor x = decoder_.step(pass, tokens, past_, memory_lengths_.empty() ? nullptr : memory_lengths_.data());
  const Tensor y = output_(pass, x);
  return reshape(y, {y.shape[0], y.shape[2]});
}

void TransformerDecoding::select(std::span<const std::int64_t> parents) {
  std::vector<std::int64_t> sources;
  std::vector<std::int32_t> lengths;
  if (!sources_.empty())
    for (const std::int64_t parent : parents) {
      sources.push_back(sources_[static_cast<std::size_t>(parent)]);
      lengths.push_back(memory_lengths_[static_cast<std::size_t>(parent)]);
    }
  // Rows that change places within one source need not carry their memory along.
  const bool same_memories = sources == sources_;
  sources_ = std::move(sources);
  memory_lengths_ = std::move(lengths);
  for (Block::Past& past : past_.blocks) {
    if (past.own) past.own->select(parents);
    if (!same_memories) past.memory.select(parents);
  }
}

} // namespace heed::HEED_REAL
