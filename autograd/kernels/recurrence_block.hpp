// One block of tokens of a linear recurrence (autograd/linear_recurrence.hpp), for one head: its decays, its products
// with the state, and their gradients.
#pragma once

#include "autograd/kernels/exponential.hpp"
#include "autograd/kernels/packing.hpp"
#include "autograd/kernels/small_product.hpp"
#include "autograd/tape.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

/// The tokens of a block: whole vectors, so that an array [channels, tokens] has no rest.
inline constexpr std::int64_t block_tokens = 16;
static_assert(block_tokens % lanes == 0);

/// What decays by itself: nothing, a head's whole state, or each channel of the keys.
enum class StateDecay { none, head, channel };

struct RecurrenceSizes {
  std::int64_t key_width, value_width;
  StateDecay decay;

  std::int64_t padded_values() const { return whole_vectors(value_width); }
  /// A state [K, V] whose rows are whole vectors.
  std::int64_t state_size() const { return key_width * padded_values(); }
};

/// The block's rows in the operands. Those of log_decay have one value with StateDecay::head.
struct BlockRows {
  Scattered q, k, v, log_decay;
  std::int64_t tokens;
};

/// In arrays [K, block_tokens], tokens beyond the block's are zero. With StateDecay::channel, rows of queries and keys
/// are copied, too, as [tokens, whole vectors].
class RecurrenceBlock {
public:
  RecurrenceBlock(Tape::Scratch& scratch, const RecurrenceSizes& sizes)
      : sizes_(sizes), row_(whole_vectors(sizes.key_width)) {
    const std::int64_t columns = sizes.key_width * block_tokens, rows = block_tokens * row_;
    q_ = scratch.take<Real>(columns);
    k_ = scratch.take<Real>(columns);
    value_scratch_ = scratch.take<Real>(block_tokens * sizes.padded_values());
    pairs_ = scratch.take<Real>(block_tokens * block_tokens);
    if (sizes.decay == StateDecay::none) {
      q_decayed_ = q_;
      k_decayed_ = k_;
      return;
    }
    q_decayed_ = scratch.take<Real>(columns);
    k_decayed_ = scratch.take<Real>(columns);
    if (sizes.decay == StateDecay::head) return;
    for (Real** of : {&q_rows_, &k_rows_, &steps_, &from_start_, &to_end_, &row_scratch_})
      *of = scratch.take<Real>(rows);
    whole_ = scratch.take<Real>(row_);
  }

  std::int64_t tokens() const { return rows_.tokens; }

  /// Reads what changes the state: decays, keys and values.
  void read_writes(const BlockRows& rows) {
    rows_ = rows;
    values_ = pack_rows(rows.v, rows.tokens, sizes_.value_width, value_scratch_);
    if (sizes_.decay == StateDecay::channel) return read_channels();
    pack_columns(rows.k, rows.tokens, sizes_.key_width, 1, k_, block_tokens);
    if (sizes_.decay == StateDecay::none) return;
    double sum = 0;
    double sums[block_tokens];
    for (std::int64_t t = 0; t < rows.tokens; ++t)
      sums[t] = sum += static_cast<double>(rows.log_decay.p[t * rows.log_decay.row]);
    // Tokens beyond the block's decay no further; their keys are 0.
    for (std::int64_t t = 0; t < block_tokens; ++t) {
      const double here = t < rows.tokens ? sums[t] : sum;
      head_sums_[t] = static_cast<Real>(here);
      head_to_end_[t] = static_cast<Real>(sum - here);
    }
    whole_of_head_ = exponential_of(static_cast<Real>(sum));
    exponentials(head_to_end_, head_to_end_, block_tokens);
    scale_tokens(k_, head_to_end_, k_decayed_);
  }

  /// Reads the queries and computes the weights of all pairs of tokens. After read_writes.
  void read_queries() {
    const std::int64_t n = rows_.tokens, width = sizes_.key_width;
    if (sizes_.decay == StateDecay::channel) return pair_channels();
    pack_columns(rows_.q, n, width, 1, q_, block_tokens);
    small_product({q_, 1, block_tokens}, k_, block_tokens, pairs_, block_tokens, n, block_tokens, width, false);
    if (sizes_.decay == StateDecay::head) {
      exponentials(head_sums_, head_from_start_, block_tokens);
      scale_tokens(q_, head_from_start_, q_decayed_);
    }
    weigh(pairs_);
  }

  /// o = S^T q' + (weights of pairs) v. Rows of y are whole vectors.
  void outputs(const Real* state, Real* y, std::int64_t y_row) const {
    const std::int64_t n = rows_.tokens, columns = sizes_.padded_values();
    small_product({q_decayed_, 1, block_tokens}, state, columns, y, y_row, n, columns, sizes_.key_width, false);
    small_product({pairs_, block_tokens, 1}, values_.p, values_.row, y, y_row, n, columns, n, true);
  }

  /// The state after the block, in place.
  void write(Real* state) const {
    decay(state);
    small_product({k_decayed_, block_tokens, 1}, values_.p, values_.row, state, sizes_.padded_values(),
                  sizes_.key_width, sizes_.padded_values(), rows_.tokens, true);
  }

  /// x *= the decay of the whole block: x [K, V] is a state or the gradient of one.
  void decay(Real* x) const {
    if (sizes_.decay == StateDecay::none) return;
    const std::int64_t columns = sizes_.padded_values();
    for (std::int64_t d = 0; d < sizes_.key_width; ++d) {
      const Real factor = whole(d);
      map(columns,
          [&](std::int64_t c, int n) { store(x + d * columns + c, load(x + d * columns + c, n) * factor, n); });
    }
  }

  /// The decay of channel d over the whole block.
  Real whole(std::int64_t d) const {
    return sizes_.decay == StateDecay::none ? 1 : sizes_.decay == StateDecay::head ? whole_of_head_ : whole_[d];
  }

  /// Multiplies the gradient of the weights by their decays, for the products that follow, and clears pairs that are
  /// not seen. Not with StateDecay::channel, where decays differ by channel: only clears.
  void weigh(Real* pairs) const {
    alignas(64) Real decays[block_tokens];
    for (std::int64_t i = 0; i < rows_.tokens; ++i) {
      Real* const row = pairs + i * block_tokens;
      if (sizes_.decay == StateDecay::head) {
        for (std::int64_t j = 0; j < block_tokens; ++j)
          decays[j] = j <= i ? head_sums_[i] - head_sums_[j] : Real{0}; // before exp: later tokens would overflow
        exponentials(decays, decays, block_tokens);
        map(block_tokens, [&](std::int64_t j, int n) { store(row + j, load(row + j, n) * load(decays + j, n), n); });
      }
      std::fill(row + i + 1, row + block_tokens, Real{0});
    }
  }

  const RecurrenceSizes& sizes() const { return sizes_; }
  const Real* pairs() const { return pairs_; }
  const Real* decayed_queries() const { return q_decayed_; }
  const Real* decayed_keys() const { return k_decayed_; }
  std::int64_t row() const { return row_; } ///< the distance of copied rows
  const BlockRows& rows() const { return rows_; }

  /// The decay from the block's start to token t, and from token t to the block's end, of each channel.
  Real from_start(std::int64_t t, std::int64_t d) const {
    return sizes_.decay == StateDecay::none   ? 1
           : sizes_.decay == StateDecay::head ? head_from_start_[t]
                                              : from_start_[t * row_ + d];
  }
  Real to_end(std::int64_t t, std::int64_t d) const {
    return sizes_.decay == StateDecay::none   ? 1
           : sizes_.decay == StateDecay::head ? head_to_end_[t]
                                              : to_end_[t * row_ + d];
  }

  /// With StateDecay::channel: adds the gradients through the pairs to rows [tokens, row()] of queries and keys.
  void add_pair_gradients(const Real* grad_pairs, Real* dq, Real* dk) const {
    for (std::int64_t i = 0; i < rows_.tokens; ++i) {
      Real* const decay = row_scratch_;
      std::fill_n(decay, row_, Real{1});
      for (std::int64_t j = i; j >= 0; --j) {
        const Simd d(grad_pairs[i * block_tokens + j]);
        const Real *q = q_rows_ + i * row_, *k = k_rows_ + j * row_, *step = steps_ + j * row_;
        Real *to_q = dq + i * row_, *to_k = dk + j * row_;
        map(row_, [&](std::int64_t c, int n) {
          const Simd e = load(decay + c, n), weighted = d * e;
          store(to_q + c, fused(weighted, load(k + c, n), load(to_q + c, n), n), n);
          store(to_k + c, fused(weighted, load(q + c, n), load(to_k + c, n), n), n);
          store(decay + c, e * load(step + c, n), n);
        });
      }
    }
  }

private:
  static Real exponential_of(Real x) {
    alignas(64) Real y[lanes];
    exponential(Simd(x)).store_aligned(y);
    return y[0];
  }
  static void exponentials(const Real* x, Real* y, std::int64_t size) {
    map(size, [&](std::int64_t i, int n) { store(y + i, exponential(load(x + i, n)), n); });
  }
  // y [K, tokens] = x times a factor for each token.
  void scale_tokens(const Real* x, const Real* factors, Real* y) const {
    for (std::int64_t d = 0; d < sizes_.key_width; ++d)
      map(block_tokens, [&](std::int64_t t, int n) {
        store(y + d * block_tokens + t, load(x + d * block_tokens + t, n) * load(factors + t, n), n);
      });
  }

  void copy_rows(const Scattered& from, Real* to) const {
    for (std::int64_t t = 0; t < rows_.tokens; ++t) {
      for (std::int64_t d = 0; d < sizes_.key_width; ++d) to[t * row_ + d] = from.p[t * from.row + d * from.column];
      std::fill(to + t * row_ + sizes_.key_width, to + (t + 1) * row_, Real{0});
    }
  }
  // Turns rows [tokens, row_] into [K, block_tokens].
  void turn(const Real* rows, Real* columns) const {
    pack_columns({rows, row_, 1}, rows_.tokens, sizes_.key_width, 1, columns, block_tokens);
  }

  void read_channels() {
    const std::int64_t n = rows_.tokens;
    copy_rows(rows_.k, k_rows_);
    copy_rows(rows_.log_decay, steps_);
    // Running sums from the block's start, and from its end, so that neither loses digits.
    for (std::int64_t t = 0; t < n; ++t)
      map(row_, [&](std::int64_t d, int m) {
        const Simd here = load(steps_ + t * row_ + d, m);
        store(from_start_ + t * row_ + d, t == 0 ? here : here + load(from_start_ + (t - 1) * row_ + d, m), m);
      });
    std::fill_n(to_end_ + (n - 1) * row_, row_, Real{0});
    for (std::int64_t t = n - 2; t >= 0; --t)
      map(row_, [&](std::int64_t d, int m) {
        store(to_end_ + t * row_ + d, load(to_end_ + (t + 1) * row_ + d, m) + load(steps_ + (t + 1) * row_ + d, m), m);
      });
    for (Real* of : {steps_, from_start_, to_end_}) exponentials(of, of, n * row_);
    std::copy_n(from_start_ + (n - 1) * row_, row_, whole_);
    products(k_rows_, to_end_, k_decayed_);
  }

  // The columns of x y, rows multiplied by their decays.
  void products(const Real* x, const Real* decays, Real* columns) const {
    map(rows_.tokens * row_,
        [&](std::int64_t i, int n) { store(row_scratch_ + i, load(x + i, n) * load(decays + i, n), n); });
    turn(row_scratch_, columns);
  }

  // A key decays by one step at each token on the way to the query, so that no quotient of decays is needed.
  void pair_channels() {
    copy_rows(rows_.q, q_rows_);
    products(q_rows_, from_start_, q_decayed_);
    for (std::int64_t i = 0; i < rows_.tokens; ++i) {
      Real* const decayed = row_scratch_;
      std::copy_n(q_rows_ + i * row_, row_, decayed);
      for (std::int64_t j = i; j >= 0; --j) {
        const Real *k = k_rows_ + j * row_, *step = steps_ + j * row_;
        pairs_[i * block_tokens + j] = sum_over(row_, [&](std::int64_t d, int n) {
          const Simd q = load(decayed + d, n);
          store(decayed + d, q * load(step + d, n), n);
          return q * load(k + d, n);
        });
      }
      std::fill(pairs_ + i * block_tokens + i + 1, pairs_ + (i + 1) * block_tokens, Real{0});
    }
  }

  RecurrenceSizes sizes_;
  std::int64_t row_;
  BlockRows rows_{};
  PackedRows values_{};
  Real *q_, *k_, *q_decayed_, *k_decayed_; // [K, block_tokens]
  Real *value_scratch_, *pairs_;
  // StateDecay::head: sums from the start to each token, and the decays
  alignas(64) Real head_sums_[block_tokens], head_from_start_[block_tokens], head_to_end_[block_tokens];
  Real whole_of_head_ = 1;
  // StateDecay::channel: rows, the decay of each token, and the decays from the start and to the end
  Real *q_rows_ = nullptr, *k_rows_ = nullptr, *steps_ = nullptr, *from_start_ = nullptr, *to_end_ = nullptr;
  Real *whole_ = nullptr, *row_scratch_ = nullptr;
};

} // namespace heed::HEED_REAL
