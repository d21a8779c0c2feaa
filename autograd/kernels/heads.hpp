// Shared parts of the streaming attention kernels: the problem's extents, access to one head, masks on tiles, and the
// online softmax.
#pragma once

#include "autograd/attention.hpp"
#include "autograd/kernels/exponential.hpp"
#include "autograd/kernels/packing.hpp"
#include "autograd/kernels/random_blocks.hpp"
#include "autograd/kernels/small_product.hpp"
#include "autograd/operation_count.hpp"
#include "autograd/thread_pool.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <type_traits>

namespace heed::HEED_REAL {

/// Extents of one attention problem. `key_heads` divides `heads`. Query head h attends to key and value head h /
/// sharing().
struct Extents {
  std::int64_t batch, heads, queries, keys, width, value_width, key_heads;

  std::int64_t sharing() const { return heads / key_heads; }
};

/// Checks the shapes of q [B, H, Tq, D], k [B, Hk, Tk, Dk] and v [B, Hk, Tk, Dv] against each other. D and Dk may
/// differ.
inline Extents attention_extents(const Op& op, const Tensor& q, const Tensor& k, const Tensor& v) {
  op.check(q.rank() == 4 && k.rank() == 4 && v.rank() == 4, "q, k and v need four axes, they have {}, {} and {}",
           q.rank(), k.rank(), v.rank());
  const Extents e{
      q.shape[0], q.shape[1], q.shape[2], k.shape[2], q.shape[3], v.shape[3], std::max<std::int64_t>(k.shape[1], 1)};
  if (!(k.shape == Shape{e.batch, e.key_heads, e.keys, k.shape[3]}) ||
      !(v.shape == Shape{e.batch, e.key_heads, e.keys, e.value_width}) || e.heads % e.key_heads != 0)
    op.fail(fmt::format("q, k and v must be [B, H, Tq, D], [B, Hk, Tk, D] and [B, Hk, Tk, Dv] with H a multiple of Hk: "
                        "q is {}, k is {}, v is {}",
                        q.shape.text(), k.shape.text(), v.shape.text()));
  return e;
}

/// The rows of one head, as a view: element (t, d) is p[t row + d column].
inline Scattered head_of(const Tensor& x, const Real* base, std::int64_t b, std::int64_t h) {
  return {base + b * x.stride[0] + h * x.stride[1], x.stride[2], x.stride[3]};
}

/// Rows of a gradient. They are overwritten if `overwrite`, otherwise added to.
struct GradRows {
  Real* p;
  std::int64_t row, column;
  bool overwrite;
};
inline GradRows head_of(const Tensor& x, const GradTarget& d, std::int64_t b, std::int64_t h) {
  if (!d) return {};
  return {d.p + b * x.stride[0] + h * x.stride[1], x.stride[2], x.stride[3], d.overwrite};
}
/// The gradient rows of the keys or values of query head h. The first query head that shares them overwrites, the
/// others add.
inline GradRows key_head_of(const Tensor& x, const GradTarget& d, const Extents& e, std::int64_t b, std::int64_t h) {
  GradRows to = head_of(x, d, b, h / e.sharing());
  to.overwrite = to.overwrite && h % e.sharing() == 0;
  return to;
}

/// Writes rows of a padded array, times a factor, to a gradient, starting at its row t0.
inline void put_rows(const Real* from, std::int64_t from_row, std::int64_t rows, std::int64_t width, Real factor,
                     const GradRows& to, std::int64_t t0 = 0) {
  for (std::int64_t t = 0; t < rows; ++t) {
    const Real* p = from + t * from_row;
    Real* q = to.p + (t0 + t) * to.row;
    if (to.column == 1)
      map(width, [&](std::int64_t d, int n) { accumulate(q + d, load(p + d, n) * factor, to.overwrite, n); });
    else
      for (std::int64_t d = 0; d < width; ++d) accumulate(q[d * to.column], factor * p[d], to.overwrite);
  }
}

/// 0, 1, 2, ...
inline Simd lane_numbers() {
  alignas(64) Real numbers[lanes];
  for (int i = 0; i < lanes; ++i) numbers[i] = static_cast<Real>(i);
  return Simd::load_aligned(numbers);
}

/// Applies the mask to one row of scores in the tile of keys that starts at j0. Columns c0 .. c1 - 1 (whole vectors)
/// have been computed; each of them that the row may not see becomes `value`. The visible prefix ends at column `head`.
inline void fill_unseen(Real* row, std::int64_t j0, std::int64_t c0, std::int64_t c1, const Mask::Range& seen,
                        const std::uint8_t* allowed, Real value) {
  const std::int64_t begin = std::clamp(seen.begin - j0, c0, c1), end = std::clamp(seen.end - j0, begin, c1),
                     head = std::clamp(seen.prefix - j0, c0, begin);
  if (!allowed && begin == c0 && end == c1 && seen.step == 1) return;
  for (std::int64_t c = c0; c < c1; c += lanes) {
    if ((c >= begin && c + lanes <= end) || c + lanes <= head) continue;
    const Simd number = lane_numbers() + static_cast<Real>(c);
    const auto inside = (number >= Simd(static_cast<Real>(begin)) && number < Simd(static_cast<Real>(end))) ||
                        number < Simd(static_cast<Real>(head));
    xsimd::select(inside, Simd::load_aligned(row + c), Simd(value)).store_aligned(row + c);
  }
  if (seen.step > 1) {
    const std::int64_t before = std::max<std::int64_t>(begin - (seen.begin - j0), 0);
    std::int64_t next = seen.begin - j0 + (before + seen.step - 1) / seen.step * seen.step;
    for (std::int64_t c = begin; c < end; ++c)
      if (c == next) next += seen.step;
      else row[c] = value;
  }
  if (!allowed) return;
  for (const auto& [from, to] : {std::pair{c0, head}, std::pair{begin, end}})
    for (std::int64_t c = from; c < to; ++c)
      if (!allowed[j0 + c]) row[c] = value;
}

/// Sets elements from .. to - 1 (whole vectors) to zero.
inline void clear_vectors(Real* row, std::int64_t from, std::int64_t to) {
  for (std::int64_t c = from; c < to; c += lanes) Simd(Real{0}).store_aligned(row + c);
}

/// The number of queries in a block, the number of queries in a strip (a strip's products stay in registers), and the
/// number of keys in a tile.
inline constexpr std::int64_t row_block = 8 * block_rows, strip_rows = 2 * block_rows, key_tile = 128;

/// One head of a streaming attention problem.
struct HeadProblem {
  Extents e;
  StreamingOptions options;
  std::int64_t b, h;

  Mask::Range seen(std::int64_t i) const { return options.mask.range(b, i, e.keys); }
  const std::uint8_t* allowed(std::int64_t i) const { return options.mask.row(b, h, i, e.queries, e.keys); }
  /// The row-major index of query i and key j within [B, H, Tq, Tk].
  std::int64_t number(std::int64_t i, std::int64_t j) const { return row(i) * e.keys + j; }
  /// The index of query i within [B, H, Tq].
  std::int64_t row(std::int64_t i) const { return (b * e.heads + h) * e.queries + i; }
  /// Dropout factors of query i for n keys, starting at key j.
  void dropout(std::int64_t i, std::int64_t j, std::int64_t n, Real* factors) const {
    dropout_factors(options.dropout, options.key, options.first + static_cast<std::uint64_t>(number(i, j)), n, factors);
  }
  /// A tile of scores whose rows are `row` apart, without the keys after the last one.
  ScoreTile tile(std::int64_t i, std::int64_t queries, std::int64_t j, std::int64_t keys, std::int64_t row) const {
    return {b, h, i, queries, j, std::min(keys, e.keys - j), row};
  }
  bool changes_scores() const { return options.formula && options.formula->changes_scores(); }
  /// Adds the bias to the scores, then applies the formula, which also writes -inf for each pair that it hides. If
  /// `before` is given and the formula needs it, `before` receives the scores as they were before the formula.
  void finish_scores(const ScoreTile& tile, Real* scores, Real* before = nullptr) const {
    if (options.bias) options.bias->add(tile, scores);
    if (!options.formula) return;
    if (before && options.formula->wants_before())
      for (std::int64_t r = 0; r < tile.queries; ++r)
        std::copy_n(scores + r * tile.row, tile.keys, before + r * tile.row);
    options.formula->apply(tile, scores);
    options.formula->hide(tile, scores, -std::numeric_limits<Real>::infinity());
  }
  /// Converts gradients with respect to finished scores into gradients with respect to raw scores. `before` holds the
  /// scores to which the formula was applied.
  void pull_gradients(const ScoreTile& tile, const Real* before, Real* grad_scores) const {
    if (options.formula) options.formula->pull(tile, before, grad_scores);
    if (options.bias) options.bias->add_gradients(tile, grad_scores);
  }
};

/// Calls f(b, h, head of keys and values) for every query head. Query heads that share keys are consecutive. Calls f
/// for no head while CountingOnly is active.
template <class F> void each_head(const Extents& e, const StreamingOptions& options, F&& f) {
  if (counting_only()) return;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t h = 0; h < e.heads; ++h) {
      if (options.formula) options.formula->begin_head(b, h);
      f(b, h, h / e.sharing());
      if (options.formula) options.formula->end_head();
    }
}

/// Is each of these gradients written only once, by one head? Gradients that are added to others, or to zeros because
/// operands overlap, keep to one thread.
inline bool each_written_once(std::initializer_list<GradTarget> targets) {
  return std::ranges::all_of(targets, [](const GradTarget& d) { return !d || d.overwrite; });
}

/// What a thread has: some heads of some batch entries, or some heads of all batch entries, one entry after the other.
/// The second is for a sum over the batch for each head.
enum class Division { entries_and_heads, heads };

/// How many threads share the heads of an attention: 1 if a formula or the gradient of a bias is common to all heads.
/// @param operations  multiplications and additions of the pass
inline int threads_for_heads(const Extents& e, const StreamingOptions& options, double operations, bool for_backward,
                             Division division = Division::entries_and_heads) {
  constexpr double per_nanosecond = 50;
  if (options.formula) return 1;
  if (options.bias &&
      (!options.bias->serves_several_threads() || (for_backward && !options.bias->gradients_serve_several_threads())))
    return 1;
  const std::int64_t groups = (division == Division::heads ? 1 : e.batch) * e.key_heads;
  return static_cast<int>(std::min<std::int64_t>(threads_for(operations / per_nanosecond),
                                                 std::max<std::int64_t>(groups, 1)));
}

/// Calls f(thread, b, h, head of keys and values) for every query head, on threads 0 .. threads - 1 of a pool. One
/// thread has all query heads that share keys.
template <class F>
void each_head(const Extents& e, const StreamingOptions& options, int threads, F&& f,
               Division division = Division::entries_and_heads) {
  if (threads == 1)
    return each_head(e, options, [&](std::int64_t b, std::int64_t h, std::int64_t kh) { f(0, b, h, kh); });
  if (counting_only()) return;
  const bool all_entries = division == Division::heads;
  const std::int64_t groups = (all_entries ? 1 : e.batch) * e.key_heads;
  run_parts(threads, [&](int thread, int) {
    const std::int64_t end = begin_of_part(groups, thread + 1, threads);
    for (std::int64_t group = begin_of_part(groups, thread, threads); group < end; ++group) {
      const std::int64_t b = group / e.key_heads, kh = group % e.key_heads;
      for (std::int64_t entry = b; entry < (all_entries ? e.batch : b + 1); ++entry)
        for (std::int64_t h = 0; h < e.sharing(); ++h) f(thread, entry, kh * e.sharing() + h, kh);
    }
  });
}

/// One Room for each of several threads, in scratch memory.
template <class Room, class... Arguments>
Room* rooms_of(int threads, Tape::Scratch& scratch, Arguments&&... arguments) {
  static_assert(std::is_trivially_destructible_v<Room>, "scratch memory destroys nothing");
  Room* rooms = scratch.take<Room>(threads);
  for (int i = 0; i < threads; ++i) std::construct_at(rooms + i, arguments...);
  return rooms;
}

/// Scratch memory of each of several threads.
class ThreadScratch {
public:
  ThreadScratch() = default;
  ThreadScratch(Tape::Scratch& scratch, int threads, std::int64_t n)
      : size_(whole_lines(n)), p_(scratch.take<Real>(threads * size_)) {}
  Real* of(int thread) const { return p_ + thread * size_; }

private:
  static std::int64_t whole_lines(std::int64_t n) {
    constexpr std::int64_t line = 64 / sizeof(Real);
    return (n + line - 1) / line * line;
  }

  std::int64_t size_ = 0;
  Real* p_ = nullptr;
};

/// Does the bias or the formula need a gradient?
inline bool further_gradients(const StreamingOptions& options) {
  return (options.bias && options.bias->requires_grad()) || (options.formula && options.formula->requires_grad());
}
/// Prepares the bias and the formula for a pass over the heads.
inline void begin(const StreamingOptions& options, Tape& tape, Tape::Scratch& scratch, bool for_backward) {
  if (options.bias && for_backward) options.bias->open(tape);
  if (options.formula) options.formula->begin(tape, scratch, for_backward);
}

/// Completes the gradients of the bias after a backward pass over the heads.
inline void end_backward(const StreamingOptions& options, Tape& tape) {
  if (options.bias) options.bias->close(tape);
}

/// The mask of a block of queries: the range of each row, and the first and last key that any row sees. Some keys in
/// between may be visible to no row.
struct BlockView {
  std::int64_t i0, rows, first = 0, last = 0;
  Mask::Range seen[row_block];

  BlockView(const HeadProblem& head, std::int64_t begin, std::int64_t most_rows = row_block)
      : i0(begin), rows(std::min(most_rows, head.e.queries - begin)) {
    first = head.e.keys;
    for (std::int64_t r = 0; r < rows; ++r) {
      seen[r] = head.seen(i0 + r);
      if (seen[r].begin >= seen[r].end) continue;
      first = std::min(first, seen[r].first());
      last = std::max(last, seen[r].end);
    }
  }

  bool meets(std::int64_t from, std::int64_t to) const {
    return std::any_of(seen, seen + rows, [&](const Mask::Range& r) { return r.meets(from, to); });
  }
};

/// Columns c0 .. c1 - 1 (whole vectors) of the tile of keys that starts at j0. They include every key of the tile that
/// some row of a block sees.
struct Columns {
  std::int64_t c0 = 0, c1 = 0;
  bool none() const { return c0 == c1; }
};
inline Columns columns_of(const Mask::Range* seen, std::int64_t rows, std::int64_t j0, std::int64_t keys) {
  std::int64_t begin = key_tile, end = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t b = std::max<std::int64_t>(seen[r].begin - j0, 0), e = std::min(seen[r].end - j0, key_tile);
    if (b < e) {
      begin = std::min(begin, b);
      end = std::max(end, e);
    }
    if (seen[r].prefix > j0) {
      begin = 0;
      end = std::max(end, std::min(seen[r].prefix - j0, key_tile));
    }
  }
  if (begin >= end) return {};
  return {begin / lanes * lanes, std::min(whole_vectors(end), whole_vectors(keys - j0))};
}

/// Like columns_of, for queries i .. i + rows - 1 of a strip, and without columns at either end that the formula hides.
inline Columns seen_columns(const HeadProblem& head, const Mask::Range* seen, std::int64_t i, std::int64_t rows,
                            std::int64_t j0) {
  Columns c = columns_of(seen, rows, j0, head.e.keys);
  if (c.none() || !head.options.formula || !head.options.formula->masks()) return c;
  const ScoreFormula::View v = head.options.formula->view(i, j0);
  c.c0 = std::max<std::int64_t>(c.c0, v.c0 * lanes);
  c.c1 = std::min<std::int64_t>(c.c1, v.c1 * lanes);
  return c.c0 < c.c1 ? c : Columns{};
}

/// Online softmax, which reads a row piece by piece (Milakov and Gimelshein 2018, arXiv 1805.02867).
struct RunningSoftmax {
  static constexpr Real nothing = -std::numeric_limits<Real>::infinity();
  Real top = nothing;
  Simd totals = Simd(Real{0}); ///< one partial sum per lane, because only the sum of the whole row is needed

  /// Replaces the scores row[c0 .. c1 - 1] by exp(score - top). Returns the factor by which the caller must multiply
  /// results that used earlier weights.
  Real take(Real* row, const Columns& c) {
    Simd most(nothing);
    for (std::int64_t i = c.c0; i < c.c1; i += lanes) most = xsimd::max(most, Simd::load_aligned(row + i));
    Real shrink = 1;
    if (xsimd::any(most > Simd(top))) {
      const Real best = largest_lane(most);
      if (top != nothing) {
        shrink = std::exp(top - best);
        totals *= Simd(shrink);
      }
      top = best;
    } else if (top == nothing) {
      if (!has_nan(row, c)) {
        clear_vectors(row, c.c0, c.c1);
        return 1;
      }
      top = std::numeric_limits<Real>::quiet_NaN(); // the sum of the whole row becomes NaN as well
    }
    for (std::int64_t i = c.c0; i < c.c1; i += lanes) {
      const Simd p = bounded_exponential(Simd::load_aligned(row + i) - top);
      p.store_aligned(row + i);
      totals += p;
    }
    return shrink;
  }

  static bool has_nan(const Real* row, const Columns& c) {
    bool found = false;
    for (std::int64_t i = c.c0; i < c.c1; i += lanes)
      found = found || xsimd::any(xsimd::isnan(Simd::load_aligned(row + i)));
    return found;
  }

  /// The logarithm of the sum of exp(score). Infinity for a row that sees no key, so that its weights are all 0.
  Real log_sum() const {
    const Real total = lane_sum(totals);
    return total > 0 || total != total ? top + std::log(total) : std::numeric_limits<Real>::infinity();
  }
  Real inverse() const {
    const Real total = lane_sum(totals);
    return total > 0 || total != total ? Real{1} / total : Real{0};
  }
};

/// The number of pairs of queries and keys that the mask's ranges allow, over the batch and all heads.
inline double seen_pairs(const Extents& e, const Mask& mask) {
  std::int64_t pairs = 0;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t i = 0; i < e.queries; ++i) pairs += mask.range(b, i, e.keys).count();
  return static_cast<double>(pairs * e.heads);
}

/// delta_i = dy_i . y_i for all rows of a head. The gradient of softmax subtracts delta_i from every entry of row i.
inline void row_deltas(const Scattered& y, const Scattered& dy, std::int64_t rows, std::int64_t width, Real* delta) {
  for (std::int64_t i = 0; i < rows; ++i)
    delta[i] = sum_over(width, [&](std::int64_t d, int n) {
      return load(y.p + i * y.row + d, n) * load(dy.p + i * dy.row + d, n);
    });
}

} // namespace heed::HEED_REAL
