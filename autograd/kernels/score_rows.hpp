// Rows of scores for row rules: all keys that a few queries see, computed tile by tile, and the weights of these rows.
#pragma once

#include "autograd/kernels/dot_product_scores.hpp"
#include "autograd/kernels/random_blocks.hpp"
#include "autograd/kernels/seen.hpp"

namespace heed::HEED_REAL {

/// Scores (or weights) of a few queries with all keys. The number of queries is chosen so that their rows fit the
/// second-level cache.
struct Strip {
  std::int64_t queries, row;

  explicit Strip(const Extents& e) : queries(row_block), row(whole_tiles(e.keys)) {
    constexpr std::int64_t most_numbers = 1 << 17;
    while (queries > strip_rows && queries * row > most_numbers) queries /= 2;
  }
  std::int64_t size() const { return queries * row; }
};

/// A block of queries and the tiles of keys that it sees. Column 0 of its strip is key `origin`.
struct StripView : BlockView {
  std::int64_t origin, keys;

  StripView(const HeadProblem& head, std::int64_t begin, const Strip& strip)
      : BlockView(head, begin, strip.queries), origin(first / key_tile * key_tile),
        keys(std::max<std::int64_t>(last - origin, 0)) {}

  /// `formula_allows` is the strip of the formula's mask; null if the formula has no mask.
  Seen seen_by(const HeadProblem& head, std::int64_t r, const std::uint8_t* formula_allows, std::int64_t row) const {
    const Mask::Range& s = seen[r];
    const std::uint8_t* allowed = head.allowed(i0 + r);
    if (s.begin >= s.end) return {{0, 0}, nullptr};
    const Mask::Range here{s.begin - origin, s.end - origin, std::max<std::int64_t>(s.prefix - origin, 0), s.step};
    if (formula_allows) return {here, formula_allows + r * row};
    return {here, allowed ? allowed + origin : nullptr};
  }
};

/// Shared parts of the forward and backward pass: the finished scores of a block of queries, and their weights.
struct Rows {
  Strip strip;
  Real *s, *w;                    // strips of scores and of weights
  Real* gathered;                 // six rows for gathered visible values
  Real* before = nullptr;         // a strip of the scores before the formula, for the backward pass
  std::uint8_t* allows = nullptr; // a strip: the mask of the formula combined with the entries of the given mask

  Rows(Tape::Scratch& scratch, const Extents& e, const StreamingOptions& options, bool for_backward)
      : strip(e), s(scratch.take<Real>(strip.size())), w(scratch.take<Real>(strip.size())),
        gathered(scratch.take<Real>(6 * strip.row)) {
    if (!options.formula) return;
    if (for_backward && options.formula->wants_before()) before = scratch.take<Real>(strip.size());
    if (options.formula->masks()) allows = scratch.take<std::uint8_t>(strip.size());
  }
  Real* row(std::int64_t n) const { return gathered + n * strip.row; }

  /// Calls f(tile, offset of the tile within a strip, visible columns) for every tile with at least one visible key.
  template <class F> void each_tile(const HeadProblem& head, const StripView& block, F&& f) const {
    for (std::int64_t c = 0; c < block.keys; c += key_tile)
      for (std::int64_t r0 = 0; r0 < block.rows; r0 += strip_rows) {
        const std::int64_t rows = std::min(strip_rows, block.rows - r0), j0 = block.origin + c;
        const Columns seen = seen_columns(head, block.seen + r0, block.i0 + r0, rows, j0);
        if (!seen.none())
          f(head.tile(block.i0 + r0, rows, j0 + seen.c0, seen.c1 - seen.c0, strip.row), r0 * strip.row + c, seen);
      }
  }
  template <class Form> void fill_scores(const HeadProblem& head, const StripView& block, const Form& form) const {
    if (allows) std::fill_n(allows, block.rows * strip.row, std::uint8_t{0});
    each_tile(head, block, [&](const ScoreTile& tile, std::int64_t at, const Columns& seen) {
      form.scores(tile.i, tile.queries, tile.j - seen.c0, seen, s + at, strip.row);
      head.finish_scores(tile, s + at + seen.c0, before ? before + at + seen.c0 : nullptr);
      if (head.options.noise) add_noise(head, tile, s + at + seen.c0);
      if (allows) fill_allows(head, tile, allows + at + seen.c0);
    });
  }
  void add_noise(const HeadProblem& head, const ScoreTile& tile, Real* to) const {
    const StreamingOptions::Noise& noise = *head.options.noise;
    alignas(64) Real numbers[key_tile];
    for (std::int64_t r = 0; r < tile.queries; ++r) {
      gumbel_numbers(noise.key, noise.first + static_cast<std::uint64_t>(head.number(tile.i + r, tile.j)), tile.keys,
                     numbers);
      for (std::int64_t c = 0; c < tile.keys; ++c) to[r * tile.row + c] += numbers[c];
    }
  }
  void fill_allows(const HeadProblem& head, const ScoreTile& tile, std::uint8_t* to) const {
    for (std::int64_t r = 0; r < tile.queries; ++r) {
      const std::uint8_t* entries = head.allowed(tile.i + r);
      if (entries) std::copy_n(entries + tile.j, tile.keys, to + r * tile.row);
      else std::fill_n(to + r * tile.row, tile.keys, std::uint8_t{1});
    }
    head.options.formula->hide(tile, to);
  }
  /// Converts the gradients in s from finished scores to raw scores. s is 0 for masked pairs.
  void pull_gradients(const HeadProblem& head, const StripView& block) const {
    if (head.changes_scores())
      each_tile(head, block, [&](ScoreTile tile, std::int64_t at, const Columns& seen) {
        tile.keys = std::min(tile.keys, block.origin + block.keys - tile.j); // s has no elements beyond
        head.options.formula->pull(tile, before ? before + at + seen.c0 : nullptr, s + at + seen.c0);
      });
    if (head.options.bias)
      head.options.bias->add_gradients(head.tile(block.i0, block.rows, block.origin, block.keys, strip.row), s);
  }
  Seen seen_by(const HeadProblem& head, const StripView& block, std::int64_t r) const {
    return block.seen_by(head, r, allows, strip.row);
  }
  RowKeys keys_of(const HeadProblem& head, const StripView& block, std::int64_t r, const Seen& seen,
                  const RowRule& policy) const {
    return seen.keys(policy, block.i0 + r + head.options.mask.offset - block.origin);
  }
  /// Writes the rules' values of these rows to `values`, which are those of all rows.
  void fill_weights(const HeadProblem& head, const StripView& block, const RowRule& policy, Real* values) const {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const Seen seen = seen_by(head, block, r);
      const RowKeys keys = keys_of(head, block, r, seen, policy);
      Real* const to = seen.place(w + r * strip.row, row(1));
      Real& value = values[head.row(block.i0 + r)];
      value = 0;
      policy.row_weights(seen.gather(s + r * strip.row, row(0)), to, keys, row(2), value);
      seen.scatter(to, w + r * strip.row, block.keys, true);
    }
  }
  /// From the gradients of the weights in g: the weights once more, and the scores' gradients in place of the scores.
  void fill_weights_and_gradients(const HeadProblem& head, const StripView& block, const RowRule& policy,
                                  const Real* values, const Real* g) const {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const Seen seen = seen_by(head, block, r);
      const RowKeys keys = keys_of(head, block, r, seen, policy);
      const std::int64_t at = r * strip.row;
      Real *const weights = seen.place(w + at, row(1)), *const gradients = row(3);
      policy.row_weights_and_backward(values[head.row(block.i0 + r)], seen.gather(s + at, row(0)), weights,
                                      seen.gather(g + at, row(2)), gradients, keys, row(4));
      seen.scatter(weights, w + at, block.keys, true);
      seen.scatter(gradients, s + at, block.keys, true);
    }
  }
  /// Multiplies a strip of values by the dropout factors.
  void drop(const HeadProblem& head, const StripView& block, Real* numbers) const {
    if (head.options.dropout <= 0) return;
    for (std::int64_t r = 0; r < block.rows; ++r) {
      head.dropout(block.i0 + r, block.origin, block.keys, row(0));
      for (std::int64_t c = 0; c < block.keys; ++c) numbers[r * strip.row + c] *= row(0)[c];
    }
  }
};

} // namespace heed::HEED_REAL
