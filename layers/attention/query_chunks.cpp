#include "layers/attention/query_chunks.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

// Measured (docs/decisions/14-recomputed-blocks.md). The scores of an entry with at most this many fit
// into the L2 cache, and recomputing them costs more than storing them.
constexpr std::int64_t most_scores_in_one_chunk = 1 << 18;
// Limits of a chunk. 64 rows are fastest at every length; fewer are used if they would take much memory.
constexpr std::int64_t most_numbers = 1 << 21, most_rows = 64, fewest_rows = 16;

} // namespace

std::int64_t queries_at_a_time(const Shape& queries, std::int64_t keys, const ScoreForm& form) {
  const auto* pairwise = std::get_if<AdditiveForm>(&form);
  // Values per query: one score per head and key; in the additive form, also all summands of each score.
  const std::int64_t each = queries[1] * keys * (pairwise ? pairwise->weights.shape[1] : 1);
  if (each * queries[2] <= most_scores_in_one_chunk) return 0;
  return std::clamp(most_numbers / each / fewest_rows * fewest_rows, fewest_rows, most_rows);
}

Pass::Part QueryChunks::part(std::int64_t i) const {
  const std::int64_t entry = i / each(), first = i % each() * rows, some = std::min(rows, queries[2] - first);
  // Lengths are ignored, because the memory of a step would otherwise change from batch to batch.
  Mask shapes = mask;
  shapes.lengths = nullptr;
  // With most masks, the last query sees the most keys. A window that lies beyond the keys is an exception: it leaves
  // only the prefix.
  std::int64_t seen = 0;
  for (std::int64_t q = first; q < first + some; ++q) seen = std::max(seen, shapes.range(entry, q, keys).end);
  return {entry, first, some, seen, queries[2], keys};
}

Mask QueryChunks::mask_of(std::int64_t i) const {
  const Pass::Part p = part(i);
  return mask.part(p.entry, p.first_query, p.queries, p.keys);
}

Tensor QueryChunks::queries_of(const Tensor& all, std::int64_t i) const {
  const Pass::Part p = part(i);
  return slice(slice(all, 0, p.entry, 1), 2, p.first_query, p.some_queries);
}

Tensor QueryChunks::keys_of(const Tensor& all, std::int64_t i) const {
  const Pass::Part p = part(i);
  return slice(slice(all, 0, p.entry, 1), 2, 0, p.some_keys);
}

Tensor QueryChunks::last_keys_of(const Tensor& all, std::int64_t i) const {
  const Pass::Part p = part(i);
  return slice(slice(all, 0, p.entry, 1), 2, 0, p.some_keys - (p.keys - all.shape[2]));
}

ScoreForm QueryChunks::form_of(const ScoreForm& form, std::int64_t i) const {
  ScoreForm some = form;
  std::visit(
      [&](auto& f) {
        if constexpr (requires { f.keys; }) {
          f.queries = queries_of(f.queries, i);
          f.keys = keys_of(f.keys, i);
        }
      },
      some);
  return some;
}

} // namespace heed::HEED_REAL
