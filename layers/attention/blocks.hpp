// Attention that doesn't stream, cut into blocks of queries of one batch entry, so that the weights of a block alone
// are in memory at any time.
#pragma once

#include "autograd/mask.hpp"
#include "layers/attention/score.hpp"

namespace heed::HEED_REAL {

/// How many queries of one batch entry go together: as many as have their scores in the processor's cache; 0 where the
/// scores of all are few, and blocks would not pay. A rule of the shapes of one entry, so that an entry's numbers are
/// the same bits whatever else is in the batch. queries: [B, H, Tq, D].
std::int64_t queries_at_a_time(const Shape& queries, std::int64_t keys, const ScoreForm& form);

/// The blocks: `rows` queries of one batch entry each (the last of an entry may have fewer), and the keys from the
/// first to the last that a causal mask or a window lets any of them see. Entries follow each other.
struct Blocks {
  Shape queries;     ///< [B, H, Tq, D]
  std::int64_t keys; ///< Tk
  std::int64_t rows;
  Mask mask; ///< of all queries

  std::int64_t count() const { return queries.size() == 0 ? 0 : queries[0] * each(); }
  Pass::Part part(std::int64_t i) const;
  Mask mask_of(std::int64_t i) const;

  /// Of numbers by queries, [B, H, Tq, ...], and by keys, [B, H, Tk, ...], those of block i: views.
  Tensor queries_of(const Tensor& all, std::int64_t i) const;
  Tensor keys_of(const Tensor& all, std::int64_t i) const;
  ScoreForm form_of(const ScoreForm& form, std::int64_t i) const;

private:
  std::int64_t each() const { return (queries[2] + rows - 1) / rows; }
};

} // namespace heed::HEED_REAL
