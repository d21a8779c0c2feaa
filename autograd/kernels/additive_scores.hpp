// Scores of additive attention, s_ij = sum_d w_d tanh(q_id + k_jd), and their gradients, computed tile by tile.
#pragma once

#include "autograd/fork_safe.hpp"
#include "autograd/kernels/heads.hpp"

#include <array>
#include <mutex>
#include <type_traits>

namespace heed::HEED_REAL::pairwise {

// tanh(q + k) = 1 - 2 r with r = 1 / (1 + x) and x = exp(2q) exp(2k). The two exponentials are computed once for each
// query and once for each key. The 1 adds the same constant, the sum of w, to every score of a row. A softmax ignores a
// constant, and the rows of ds sum to zero under a softmax, so no gradient needs the constant either. Other normalisers
// must add the sum of w. Where x is above exp(limit), r is practically zero. Below exp(limit), no product of four
// factors 1 + x overflows.
inline constexpr bool single = std::is_same_v<Real, float>;
inline constexpr Real limit = single ? 21 : 36;
// largest |argument| for which exp neither overflows nor underflows
inline constexpr Real greatest = single ? 86 : 700;
inline constexpr int group = 4;                      // number of queries, and of dimensions, processed together
inline constexpr std::int64_t pair_tile = 2 * lanes; // keys whose r stay in the cache between scores and gradients

// The three ways to form x without overflow: `product` multiplies the factors; `cut_product` also clips the product;
// `mixed` computes the exponential of the sum for pairs with a query or key factor that would overflow by itself. A
// pair has the same bits in every range that can represent it. The result of a query therefore does not depend on keys
// that the query does not see.
enum class Range { product, cut_product, mixed };
inline constexpr Real out_of_range = -1; // stored in place of a factor that would overflow

inline Simd inverse(const Simd& x) {
  if constexpr (single) {
    // accurate to 11 bits or more; each Newton step doubles the number of correct bits
    const Simd r = xsimd::reciprocal(x);
    const Simd once = r * xsimd::fnma(x, r, Simd(Real{2}));
    return sizeof(Real) * lanes == 64 ? once : once * xsimd::fnma(x, once, Simd(Real{2}));
  } else {
    return Real{1} / x;
  }
}

// The exponential factors of one head's queries and keys, as `one_and_odds` reads them.
struct Factors {
  Range range;
  Real *q, *q_twice;                       // [Tq, D]: exp(2q), and 2q in the mixed range
  const Real *k_columns, *k_columns_twice; // [D, k_row]: exp(2k), and 2k in the mixed range
  std::int64_t width, k_row;
};

// 1 + x for the query entry at q_at and a vector of keys at k_at, whose factors are k. The bound is the first operand
// of min because min keeps a NaN of the second operand.
template <Range range> Simd one_and_odds(const Factors& f, std::int64_t q_at, const Simd& k, std::int64_t k_at) {
  const Simd q(f.q[q_at]), one(Real{1}), zero(Real{0});
  const Simd product = xsimd::fma(q, k, one);
  if constexpr (range == Range::product) return product;
  const Simd cut = xsimd::min(Simd(Real{1} + std::exp(limit)), product);
  if constexpr (range == Range::cut_product) return cut;
  const Simd sum = xsimd::min(Simd(limit), Simd(f.q_twice[q_at]) + load(f.k_columns_twice + k_at));
  return xsimd::select((q < zero) || (k < zero), one + exponential(sum), cut);
}

inline void fill_exponentials(const Real* from, Real* to, std::int64_t n) {
  map(n, [&](std::int64_t at, int m) {
    const Simd x = load(from + at, m);
    store(to + at, xsimd::select(xsimd::abs(x) > Simd(greatest), Simd(out_of_range), exponential(x)), m);
  });
}

// Number of keys after padding. Keys are padded to whole tiles, so that every tile can be read and written in full. The
// number of tiles is odd, so that the columns of one key do not all map to the same few cache sets.
inline std::int64_t padded_keys(std::int64_t keys) { return ((keys + pair_tile - 1) / pair_tile | 1) * pair_tile; }

// The largest magnitude and the largest entry of each dimension of 2 x.
inline void bounds(const Scattered& x, std::int64_t rows, std::int64_t width, Real* magnitude, Real* high) {
  for (std::int64_t t = 0; t < rows; ++t)
    for (std::int64_t d = 0; d < width; ++d) {
      const Real v = 2 * x.p[t * x.row + d * x.column], size = std::abs(v);
      magnitude[d] = t == 0 || !(size <= magnitude[d]) ? size : magnitude[d]; // keeps a NaN
      high[d] = t == 0 ? v : std::max(high[d], v);
    }
}

// Buffers of `prepare` for one head at a time.
struct FactorsRoom {
  Factors factors;
  Real *q, *k, *bounds; // [Tq, D] and [k_row, D], free once the factors are filled; [4, D]
  Real *k_columns, *k_columns_twice = nullptr;

  FactorsRoom(Tape::Scratch& scratch, const Extents& e, std::int64_t k_row, bool packed = false)
      : factors{Range::product, scratch.take<Real>(e.queries * e.width), nullptr, nullptr, nullptr, e.width, k_row},
        q(scratch.take<Real>(e.queries * e.width)), k(scratch.take<Real>(k_row * e.width)),
        bounds(scratch.take<Real>(4 * e.width)), k_columns(packed ? nullptr : scratch.take<Real>(e.width * k_row)),
        packed_(packed), scratch_(scratch) {}

  // Allocates the buffers of the mixed range. Few heads need them. Threads may do so at the same time.
  void hold_sums(const Extents& e) {
    if (factors.q_twice) return;
    static ForkSafeMutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    factors.q_twice = scratch_.take<Real>(e.queries * e.width);
    if (!packed_) k_columns_twice = scratch_.take<Real>(e.width * factors.k_row);
  }

private:
  bool packed_;
  Tape::Scratch& scratch_;
};

// The part of a PackedMemory that belongs to one head.
struct PackedKeys {
  const Real *twice = nullptr, *exponentials = nullptr, *bounds = nullptr;

  PackedKeys(const PackedMemory* memory, const Extents& e, std::int64_t k_row, std::int64_t b, std::int64_t kh) {
    if (!memory) return;
    const std::int64_t head = b * e.key_heads + kh;
    twice = memory->key_columns.data + head * e.width * k_row;
    exponentials = memory->key_exponentials + head * e.width * k_row;
    bounds = memory->key_bounds + head * 2 * e.width;
  }
};

// Chooses the range and fills the factors. Packed keys already have their factors.
inline void prepare(const Scattered& q, const Scattered& k, const Extents& e, FactorsRoom& room,
                    const PackedKeys& packed) {
  Factors& f = room.factors;
  Real *q_size = room.bounds, *q_high = q_size + e.width, *own_bounds = q_high + e.width;
  bounds(q, e.queries, e.width, q_size, q_high);
  if (!packed.bounds) bounds(k, e.keys, e.width, own_bounds, own_bounds + e.width);
  const Real* k_size = packed.bounds ? packed.bounds : own_bounds;
  const Real* k_high = k_size + e.width;
  bool low_enough = true, representable = true;
  for (std::int64_t d = 0; d < e.width; ++d) {
    low_enough = low_enough && q_high[d] + k_high[d] <= limit;
    representable = representable && q_size[d] <= greatest && k_size[d] <= greatest;
  }
  f.range = !representable ? Range::mixed : low_enough ? Range::product : Range::cut_product;
  if (f.range == Range::mixed) room.hold_sums(e);
  Real* q_twice = f.range == Range::mixed ? f.q_twice : f.q;
  for (std::int64_t t = 0; t < e.queries; ++t)
    for (std::int64_t d = 0; d < e.width; ++d) q_twice[t * e.width + d] = 2 * q.p[t * q.row + d * q.column];
  fill_exponentials(q_twice, f.q, e.queries * e.width);
  if (packed.twice) {
    f.k_columns = packed.exponentials;
    f.k_columns_twice = packed.twice;
    return;
  }
  Real* k_columns_twice = f.range == Range::mixed ? room.k_columns_twice : room.k_columns;
  pack_columns(k, e.keys, e.width, 2, k_columns_twice, f.k_row);
  fill_exponentials(k_columns_twice, room.k_columns, e.width * f.k_row);
  f.k_columns = room.k_columns;
  f.k_columns_twice = k_columns_twice;
}

// Computes -2 sum_d w_d r for up to `group` queries and the columns of a tile. Four dimensions share one division: a/A
// + b/B = (a B + b A) / (A B), applied twice.
template <Range range>
void scores_of_rows(const Factors& f, const Real* w, std::int64_t i, std::int64_t rows, std::int64_t j0,
                    const Columns& c, Real* tile, std::int64_t row) {
  const std::int64_t whole = f.width / group * group;
  for (std::int64_t at = c.c0; at < c.c1; at += lanes)
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto one_plus = [&](std::int64_t d) {
        const std::int64_t k_at = d * f.k_row + j0 + at;
        return one_and_odds<range>(f, (i + r) * f.width + d, load(f.k_columns + k_at), k_at);
      };
      Simd sum(Real{0});
      std::int64_t d = 0;
      for (; d < whole; d += group) {
        const Simd a = one_plus(d), b = one_plus(d + 1), m = one_plus(d + 2), n = one_plus(d + 3);
        const Simd ab = a * b, mn = m * n;
        const Simd left = xsimd::fma(Simd(w[d]), b, w[d + 1] * a), right = xsimd::fma(Simd(w[d + 2]), n, w[d + 3] * m);
        sum = xsimd::fma(xsimd::fma(left, mn, right * ab), inverse(ab * mn), sum);
      }
      for (; d < f.width; ++d) sum = xsimd::fma(Simd(w[d]), inverse(one_plus(d)), sum);
      store(tile + r * row + at, sum * Real{-2});
    }
}

struct AdditiveScores {
  const Factors& f;
  const Real* w;

  void operator()(std::int64_t i, std::int64_t rows, std::int64_t j0, const Columns& c, Real* tile,
                  std::int64_t row) const {
    const auto work = f.range == Range::product       ? scores_of_rows<Range::product>
                      : f.range == Range::cut_product ? scores_of_rows<Range::cut_product>
                                                      : scores_of_rows<Range::mixed>;
    work(f, w, i, rows, j0, c, tile, row);
  }
};

// Buffers that accumulate the gradients of one head's scores.
struct AdditiveGradients {
  const Factors& f;
  const Real* w;
  Real* r;          // [D, group, pair_tile]: r of the current pairs
  Real* dq_lanes;   // [row_block, D, lanes]: sum over keys of ds r (1 - r), one partial sum per lane
  Real* dk_columns; // [D, k_row]: sum over queries of ds r (1 - r)
  Real* dk_whole;   // [D, k_row]: a single query's key gradients are added here, factor included; null: use dk_columns
  Real* dw_lanes;   // [D, lanes]: sum over pairs of ds r

  AdditiveGradients(Tape::Scratch& scratch, const FactorsRoom& room, const Extents& e)
      : f(room.factors), w(nullptr), r(scratch.take<Real>(e.width * group * pair_tile)),
        dq_lanes(scratch.take<Real>(row_block * e.width * lanes)), dk_columns(room.k), dk_whole(nullptr),
        dw_lanes(scratch.take<Real>(e.width * lanes)) {}

  void begin(const Real* weights, Real* whole = nullptr) {
    w = weights;
    dk_whole = whole;
    if (!dk_whole) std::fill_n(dk_columns, f.width * f.k_row, Real{0});
    std::fill_n(dw_lanes, f.width * lanes, Real{0});
  }
  void begin_rows(std::int64_t rows) const { std::fill_n(dq_lanes, rows * f.width * lanes, Real{0}); }
  // Computes the gradients of the block's queries: dq [rows, D].
  void end_rows(std::int64_t rows, Real* dq) const {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t d = 0; d < f.width; ++d)
        dq[r * f.width + d] = 4 * w[d] * lane_sum(load(dq_lanes + (r * f.width + d) * lanes));
  }
  // Multiplies the keys' gradients by their factor. Called once, at the end.
  void finish_keys(std::int64_t keys) const {
    for (std::int64_t d = 0; d < f.width; ++d) {
      Real* column = dk_columns + d * f.k_row;
      for (std::int64_t j = 0; j < keys; ++j) column[j] *= 4 * w[d];
    }
  }
};

// The inverses of four numbers by one division.
inline std::array<Simd, group> inverses(const std::array<Simd, group>& x) {
  const Simd ab = x[0] * x[1], mn = x[2] * x[3], all = inverse(ab * mn), of_ab = all * mn, of_mn = all * ab;
  return {of_ab * x[1], of_ab * x[0], of_mn * x[3], of_mn * x[2]};
}

// Calls f with the number of queries of a group. For a whole group it is a constant, so the compiler unrolls the loops.
template <class F> void with_rows(std::int64_t rows, F&& f) {
  if (rows == group) f(std::integral_constant<std::int64_t, group>());
  else f(rows);
}

// Stores r for some queries and the tile of keys that starts at j0, and the scores, if they are wanted; rows of s are
// pair_tile apart. What the loops read from `a` is copied first, because the compiler would read it again after each
// store.
template <Range range, bool wants_scores, class Rows>
void keep_r_of(const AdditiveGradients& a, std::int64_t i, Rows rows, std::int64_t j0, Real* s) {
  const Factors f = a.f;
  const Real* w = a.w;
  Real* const kept = a.r;
  Simd sum[2][group];
  for (auto& half : sum)
    for (Simd& x : half) x = Simd(Real{0});
  const std::int64_t whole = f.width / group * group;
  for (std::int64_t d = 0; d < whole; d += group)
    for (int half = 0; half < 2; ++half) {
      const auto k_at = [&](int n) { return (d + n) * f.k_row + j0 + half * lanes; };
      std::array<Simd, group> k, odds;
      for (int n = 0; n < group; ++n) k[n] = load(f.k_columns + k_at(n));
      for (std::int64_t g = 0; g < rows; ++g) {
        for (int n = 0; n < group; ++n) odds[n] = one_and_odds<range>(f, (i + g) * f.width + d + n, k[n], k_at(n));
        const auto r = inverses(odds);
        for (int n = 0; n < group; ++n) {
          r[n].store_aligned(kept + ((d + n) * group + g) * pair_tile + half * lanes);
          if constexpr (wants_scores) sum[half][g] = xsimd::fma(Simd(w[d + n]), r[n], sum[half][g]);
        }
      }
    }
  for (std::int64_t d = whole; d < f.width; ++d)
    for (int half = 0; half < 2; ++half) {
      const std::int64_t k_at = d * f.k_row + j0 + half * lanes;
      for (std::int64_t g = 0; g < rows; ++g) {
        const Simd r = inverse(one_and_odds<range>(f, (i + g) * f.width + d, load(f.k_columns + k_at), k_at));
        r.store_aligned(kept + (d * group + g) * pair_tile + half * lanes);
        if constexpr (wants_scores) sum[half][g] = xsimd::fma(Simd(w[d]), r, sum[half][g]);
      }
    }
  if constexpr (wants_scores)
    for (int half = 0; half < 2; ++half)
      for (std::int64_t g = 0; g < rows; ++g) (sum[half][g] * Real{-2}).store_aligned(s + g * pair_tile + half * lanes);
}

template <Range range, bool wants_scores>
void keep_r(const AdditiveGradients& a, std::int64_t i, std::int64_t rows, std::int64_t j0, Real* s) {
  with_rows(rows, [&](auto n) { keep_r_of<range, wants_scores>(a, i, n, j0, s); });
}

// Adds the contribution of ds, for some queries and one tile of keys, to dq, dk and dw.
template <class Rows>
void add_gradients_of(const AdditiveGradients& a, std::int64_t row_in_block, Rows rows, std::int64_t j0,
                      const Real* ds) {
  const std::int64_t width = a.f.width, k_row = a.f.k_row;
  const bool at_once = a.dk_whole;
  const Real *kept = a.r, *weights = a.w;
  Real *dk_columns = (at_once ? a.dk_whole : a.dk_columns) + j0, *dw_lanes = a.dw_lanes,
       *dq_lanes = a.dq_lanes + row_in_block * width * lanes;
  const Simd zero(Real{0});
  for (std::int64_t d = 0; d < width; ++d) {
    Real *dk = dk_columns + d * k_row, *dw = dw_lanes + d * lanes;
    const Real* r = kept + d * group * pair_tile;
    const Simd there0 = load(dk), there1 = load(dk + lanes);
    Simd k0 = at_once ? zero : there0, k1 = at_once ? zero : there1, w0 = load(dw), w1 = zero;
    for (std::int64_t g = 0; g < rows; ++g) {
      const Simd s0 = Simd::load_aligned(ds + g * pair_tile), s1 = Simd::load_aligned(ds + g * pair_tile + lanes);
      const Simd r0 = Simd::load_aligned(r + g * pair_tile), r1 = Simd::load_aligned(r + g * pair_tile + lanes);
      const Simd slope0 = xsimd::fnma(r0, r0, r0), slope1 = xsimd::fnma(r1, r1, r1); // r (1 - r)
      Real* dq = dq_lanes + (g * width + d) * lanes;
      xsimd::fma(s1, slope1, xsimd::fma(s0, slope0, load(dq))).store_aligned(dq);
      k0 = xsimd::fma(s0, slope0, k0);
      k1 = xsimd::fma(s1, slope1, k1);
      w0 = xsimd::fma(s0, r0, w0);
      w1 = xsimd::fma(s1, r1, w1);
    }
    if (at_once) { // round the product before the addition, as the path that stores it in dk_columns does
      const Simd factor(4 * weights[d]);
      k0 = there0 + xsimd::fma(k0, factor, zero);
      k1 = there1 + xsimd::fma(k1, factor, zero);
    }
    store(dk, k0);
    store(dk + lanes, k1);
    store(dw, w0 + w1);
  }
}
inline void add_gradients(const AdditiveGradients& a, std::int64_t row_in_block, std::int64_t rows, std::int64_t j0,
                          const Real* ds) {
  with_rows(rows, [&](auto n) { add_gradients_of(a, row_in_block, n, j0, ds); });
}

} // namespace heed::HEED_REAL::pairwise
