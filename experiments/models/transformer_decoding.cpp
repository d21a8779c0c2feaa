#include "experiments/models/transformer_decoding.hpp"

#include <algorithm>
#include <numeric>

namespace heed::HEED_REAL {

namespace {
constexpr std::int64_t tokens_at_once = 1024;

void select_rows(std::vector<std::vector<std::int32_t>>& rows, std::span<const std::int64_t> parents) {
  if (rows.empty()) return;
  std::vector<std::vector<std::int32_t>> out;
  for (const std::int64_t parent : parents) out.push_back(rows[static_cast<std::size_t>(parent)]);
  rows = std::move(out);
}
} // namespace

TransformerDecoding::TransformerDecoding(Pass& pass, const Transformer& decoder,
                                         std::function<Tensor(Pass&, const Tensor&)> output, const Tensor& memory,
                                         std::span<const std::int32_t> lengths, const Segments& segments)
    : TransformerDecoding(decoder, std::move(output)) {
  memory_lengths_.assign(lengths.begin(), lengths.end());
  sources_.resize(lengths.size());
  std::iota(sources_.begin(), sources_.end(), 0);
  if (segments.numbers)
    for (std::int64_t r = 0; r < std::ssize(lengths); ++r)
      memory_segments_.emplace_back(segments.of(r), segments.of(r) + memory.shape[1]);
  const Memory kept{.vectors = memory, .lengths = nullptr};
  past_ = decoder_.start(pass, &kept);
}

Tensor TransformerDecoding::step(Pass& pass, std::span<const std::int32_t> tokens) {
  const Tensor y = output_(pass, next(pass, {tokens.data(), std::ssize(tokens), 1}));
  return reshape(y, {y.shape[0], y.shape[2]});
}

void TransformerDecoding::read(Pass& pass, std::int64_t rows, std::span<const std::int32_t> tokens) {
  const std::int64_t length = std::ssize(tokens) / rows, most = std::max<std::int64_t>(tokens_at_once / rows, 1);
  std::vector<std::int32_t> some;
  for (std::int64_t first = 0; first < length; first += most) {
    const std::int64_t n = std::min(most, length - first);
    some.clear();
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto of_row = tokens.subspan(static_cast<std::size_t>(r * length + first), static_cast<std::size_t>(n));
      some.insert(some.end(), of_row.begin(), of_row.end());
    }
    const Tape::ArenaScope transient(pass.tape());
    next(pass, {some.data(), rows, n});
  }
}

Tensor TransformerDecoding::next(Pass& pass, const TokenRows& tokens) {
  Mask of_memory{.lengths = memory_lengths_.empty() ? nullptr : memory_lengths_.data()};
  std::vector<std::int32_t> segments; // lives as long as the step
  for (const std::vector<std::int32_t>& row : memory_segments_) segments.insert(segments.end(), row.begin(), row.end());
  if (!segments.empty()) of_memory.key_segments = {segments.data(), std::ssize(memory_segments_.front())};
  return decoder_.step(pass, tokens, past_, of_memory);
}

void TransformerDecoding::select(std::span<const std::int64_t> parents) {
  std::vector<std::int64_t> sources;
  std::vector<std::int32_t> lengths;
  if (!sources_.empty())
    for (const std::int64_t parent : parents) {
      sources.push_back(sources_[static_cast<std::size_t>(parent)]);
      lengths.push_back(memory_lengths_[static_cast<std::size_t>(parent)]);
    }
  // If rows only move within one source, their encoder output does not need to be copied.
  const bool same_memories = sources == sources_;
  sources_ = std::move(sources);
  memory_lengths_ = std::move(lengths);
  select_rows(past_.tokens, parents);
  select_rows(memory_segments_, parents);
  for (Block::Past& past : past_.blocks) {
    if (past.own) past.own->select(parents);
    if (!same_memories) past.memory.select(parents);
  }
}

} // namespace heed::HEED_REAL
