// Non-streaming attention in chunks: each chunk is some queries of one batch entry, so that only one chunk's weights
// are in memory at a time.
#pragma once

#include "autograd/mask.hpp"
#include "layers/attention/score.hpp"

namespace heed::HEED_REAL {

/// The number of queries of one batch entry in a chunk: as many as have scores that fit into the processor's cache. 0
/// if all scores are few, because chunks would not pay off. The number depends only on the shapes of one entry, so that
/// an entry's results are bit-identical whatever else is in the batch. queries: [B, H, Tq, D].
std::int64_t queries_at_a_time(const Shape& queries, std::int64_t keys, const ScoreForm& form);

/// The list of chunks. A chunk has `rows` queries of one batch entry (an entry's last chunk may have fewer), and all
/// keys up to the last one that a causal mask or a window lets any of its queries see. The chunks are ordered by entry.
struct QueryChunks {
  Shape queries;     ///< [B, H, Tq, D]
  std::int64_t keys; ///< Tk
  std::int64_t rows;
  Mask mask; ///< for all queries

  std::int64_t count() const { return queries.size() == 0 ? 0 : queries[0] * each(); }
  Pass::Part part(std::int64_t i) const;
  Mask mask_of(std::int64_t i) const;

  /// Views of chunk i: of a tensor by queries, [B, H, Tq, ...], and of a tensor by keys, [B, H, Tk, ...].
  Tensor queries_of(const Tensor& all, std::int64_t i) const;
  Tensor keys_of(const Tensor& all, std::int64_t i) const;
  /// The same of a tensor by the last R keys, [B, H, R, ...], of which every query sees the first.
  Tensor last_keys_of(const Tensor& all, std::int64_t i) const;
  /// The chunk's entry of a tensor [B, ...], or no tensor.
  Tensor entry_of(const Tensor& all, std::int64_t i) const { return all.tape ? slice(all, 0, part(i).entry, 1) : all; }
  ScoreForm form_of(const ScoreForm& form, std::int64_t i) const;

private:
  std::int64_t each() const { return (queries[2] + rows - 1) / rows; }
};

} // namespace heed::HEED_REAL
