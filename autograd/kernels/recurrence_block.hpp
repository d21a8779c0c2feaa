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
  /// Are outputs divided by the sum of their weights? Then each value is followed by a one, whose output is that sum.
  bool normalized = false;
  /// The numbers that the strength of the erase has at a token: 0 (nothing is erased), 1 or key_width. Not if
  /// normalized.
  std::int64_t erase_width = 0;
  bool own_erase_keys = false; ///< Do these numbers read the state themselves, or are they factors of the keys?

  bool erases() const { return erase_width > 0; }
  std::int64_t columns() const { return value_width + (normalized ? 1 : 0); }
  std::int64_t padded_values() const { return whole_vectors(columns()); }
  /// A state [K, V] whose rows are whole vectors.
  std::int64_t state_size() const { return key_width * padded_values(); }
};

/// The block's rows in the operands. Those of log_decay have one value with StateDecay::head; those of write have one.
struct BlockRows {
  Scattered q, k, v, log_decay, write, erase;
  std::int64_t tokens;
};

/// Rows that read the state: the queries, or the erasers, which are keys times minus the strength of the erase, or
/// minus the erase keys.
struct StateReaders {
  bool see_own_token; ///< Do they read the state after the write of their token, or before?
  PackedRows rows{};
  Real *scratch = nullptr, *pairs = nullptr;   ///< [tokens, K], and [tokens, tokens]: the weights of pairs
  Real *columns = nullptr, *decayed = nullptr; ///< [K, tokens], also times the decay from the block's start
  Real* decayed_rows = nullptr;                ///< [tokens, K], with StateDecay::channel, and in place of columns
};

/// In arrays [K, block_tokens], tokens beyond the block's are zero. Keys are multiplied by `write`, if there is one; if
/// the block erases, values are instead, and become what is written: v_i + the sum of what eraser i reads.
///
/// With StateDecay::channel, the weight of query i and key j is (q_i e_i) . (k_j / e_j), where e_t is the decay from
/// the block's start to token t: a matrix product. This serves the first tokens, while no channel has decayed below
/// 2^-40. Beyond, a query decays by one step at each token on the way to the key, so that there is no quotient. What a
/// token gets depends on no later token.
class RecurrenceBlock {
public:
  RecurrenceBlock(Tape::Scratch& scratch, const RecurrenceSizes& sizes)
      : sizes_(sizes), row_(whole_vectors(sizes.key_width)) {
    const std::int64_t columns = sizes.key_width * block_tokens, rows = block_tokens * row_;
    const bool decays = sizes.decay != StateDecay::none, by_channel = sizes.decay == StateDecay::channel;
    for (StateReaders* of : {&queries_, &erasers_}) {
      if (of == &erasers_ && !sizes.erases()) continue;
      of->scratch = scratch.take<Real>(rows);
      of->pairs = scratch.take<Real>(block_tokens * block_tokens);
      if (!by_channel) of->columns = scratch.take<Real>(columns);
      of->decayed = decays ? scratch.take<Real>(columns) : of->columns;
      if (by_channel) of->decayed_rows = scratch.take<Real>(rows);
    }
    k_ = scratch.take<Real>(columns);
    k_decayed_ = decays ? scratch.take<Real>(columns) : k_;
    k_scratch_ = scratch.take<Real>(rows);
    value_scratch_ = scratch.take<Real>(block_tokens * sizes.padded_values());
    if (sizes.decay == StateDecay::head) pair_decays_ = scratch.take<Real>(block_tokens * block_tokens);
    if (!by_channel) return;
    for (Real** of : {&steps_, &from_start_, &raise_, &to_end_, &k_raised_rows_, &row_scratch_})
      *of = scratch.take<Real>(rows);
  }

  std::int64_t tokens() const { return rows_.tokens; }

  /// Reads what changes the state: decays, keys, values and, with the state before the block, what is erased.
  void read_writes(const BlockRows& rows, const Real* state) {
    rows_ = rows;
    read_values();
    read_keys();
    read_decays();
    if (!sizes_.erases()) return;
    prepare_pairs();
    read_erasers();
    // Row by row: what is written at a token is read by the later ones.
    const std::int64_t columns = sizes_.padded_values();
    small_product({erasers_.decayed, 1, block_tokens}, state, columns, value_scratch_, columns, rows.tokens, columns,
                  sizes_.key_width, true);
    for (std::int64_t i = 1; i < rows.tokens; ++i)
      for (std::int64_t j = 0; j < i; ++j)
        add_row(erasers_.pairs[i * block_tokens + j], value_scratch_ + j * columns, value_scratch_ + i * columns);
  }

  /// Reads the queries and computes the weights of all pairs of tokens. After read_writes.
  void read_queries() {
    if (!sizes_.erases()) prepare_pairs();
    queries_.rows = pack_rows(rows_.q, rows_.tokens, sizes_.key_width, queries_.scratch);
    read(queries_);
  }

  /// o = S^T q' + (weights of pairs) v. Rows of y are whole vectors.
  void outputs(const Real* state, Real* y, std::int64_t y_row) const {
    const std::int64_t n = rows_.tokens, columns = sizes_.padded_values();
    small_product({queries_.decayed, 1, block_tokens}, state, columns, y, y_row, n, columns, sizes_.key_width, false);
    small_product({queries_.pairs, block_tokens, 1}, values_.p, values_.row, y, y_row, n, columns, n, true);
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
    return sizes_.decay == StateDecay::none   ? 1
           : sizes_.decay == StateDecay::head ? whole_of_head_
                                              : from_start_[(rows_.tokens - 1) * row_ + d];
  }

  /// Multiplies the weights of pairs, or their gradients, by the decays of a head, and clears pairs that are not seen.
  void weigh(const StateReaders& of, Real* pairs) const {
    for (std::int64_t i = 0; i < rows_.tokens; ++i) {
      Real* const row = pairs + i * block_tokens;
      if (sizes_.decay == StateDecay::head)
        map(block_tokens, [&](std::int64_t j, int n) {
          store(row + j, load(row + j, n) * load(pair_decays_ + i * block_tokens + j, n), n);
        });
      std::fill(row + i + (of.see_own_token ? 1 : 0), row + block_tokens, Real{0});
    }
  }

  /// The gradient of the values, from that of what is written, both [tokens, padded_values()] in place.
  void leave_erasers(Real* rows) const {
    const std::int64_t columns = sizes_.padded_values();
    for (std::int64_t i = rows_.tokens - 1; i > 0; --i)
      for (std::int64_t j = 0; j < i; ++j)
        add_row(erasers_.pairs[i * block_tokens + j], rows + i * columns, rows + j * columns);
  }

  const RecurrenceSizes& sizes() const { return sizes_; }
  const StateReaders& queries() const { return queries_; }
  const StateReaders& erasers() const { return erasers_; }
  const Real* decayed_keys() const { return k_decayed_; }
  std::int64_t row() const { return row_; } ///< the distance of rows that are not in the operands
  const BlockRows& rows() const { return rows_; }
  const PackedRows& value_rows() const { return values_; } ///< what is written
  const PackedRows& key_rows() const { return key_rows_; } ///< times `write`, unless the block erases

  /// Multiplies rows [tokens, row()] by the decay from the block's start to each token, or from each token to its end.
  void decay_from_start(Real* rows) const { decay_rows(rows, head_from_start_, from_start_); }
  void decay_to_end(Real* rows) const { decay_rows(rows, head_to_end_, to_end_); }

  /// Adds the gradients through the pairs to rows [tokens, row()] of readers and keys.
  void add_pair_gradients(const StateReaders& of, const Real* grad_pairs, Real* dq, Real* dk) const {
    const std::int64_t n = rows_.tokens;
    if (sizes_.decay != StateDecay::channel) {
      small_product({grad_pairs, block_tokens, 1}, key_rows_.p, key_rows_.row, dq, row_, n, row_, n, true);
      small_product({grad_pairs, 1, block_tokens}, of.rows.p, of.rows.row, dk, row_, n, row_, n, true);
      return;
    }
    const auto add_product = [&](const Scattered& pairs, const Real* right, const Real* factors, Real* to) {
      small_product(pairs, right, row_, row_scratch_, row_, raised_, row_, raised_, false);
      map(raised_ * row_, [&](std::int64_t c, int m) {
        store(to + c, fused(load(row_scratch_ + c, m), load(factors + c, m), load(to + c, m), m), m);
      });
    };
    add_product({grad_pairs, block_tokens, 1}, k_raised_rows_, from_start_, dq);
    add_product({grad_pairs, 1, block_tokens}, of.decayed_rows, raise_, dk);
    for (std::int64_t i = raised_; i < n; ++i) {
      Real* const decay = row_scratch_;
      std::fill_n(decay, row_, Real{1});
      for (std::int64_t j = i; j >= 0; --j) {
        const Simd d(grad_pairs[i * block_tokens + j]);
        const Real *q = of.rows.p + i * of.rows.row, *k = key_rows_.p + j * key_rows_.row, *step = steps_ + j * row_;
        Real *to_q = dq + i * row_, *to_k = dk + j * row_;
        map(row_, [&](std::int64_t c, int m) {
          const Simd e = load(decay + c, m), weighted = d * e;
          store(to_q + c, fused(weighted, load(k + c, m), load(to_q + c, m), m), m);
          store(to_k + c, fused(weighted, load(q + c, m), load(to_k + c, m), m), m);
          store(decay + c, e * load(step + c, m), m);
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

  // y += factor x, of rows of values.
  void add_row(Real factor, const Real* x, Real* y) const {
    map(sizes_.padded_values(),
        [&](std::int64_t c, int n) { store(y + c, fused(Simd(factor), load(x + c, n), load(y + c, n), n), n); });
  }

  void read_values() {
    const std::int64_t width = sizes_.value_width, row = sizes_.padded_values();
    if (!sizes_.normalized && !sizes_.erases()) {
      values_ = pack_rows(rows_.v, rows_.tokens, width, value_scratch_);
      return;
    }
    values_ = {value_scratch_, row};
    for (std::int64_t t = 0; t < rows_.tokens; ++t) {
      Real* const to = value_scratch_ + t * row;
      std::fill(to + width, to + row, Real{0});
      std::copy_n(rows_.v.p + t * rows_.v.row, width, to);
      if (sizes_.normalized) to[width] = 1;
      else if (rows_.write.p) scale_row(rows_.write.p[t * rows_.write.row], to, row);
    }
  }
  static void scale_row(Real factor, Real* x, std::int64_t width) {
    map(width, [&](std::int64_t d, int n) { store(x + d, load(x + d, n) * Simd(factor), n); });
  }

  void read_keys() {
    const std::int64_t n = rows_.tokens, width = sizes_.key_width;
    key_rows_ = pack_rows(rows_.k, n, width, k_scratch_);
    if (!rows_.write.p || sizes_.erases()) return;
    for (std::int64_t t = 0; t < n; ++t) {
      const Simd strength(rows_.write.p[t * rows_.write.row]);
      map(row_, [&](std::int64_t d, int) {
        store(k_scratch_ + t * row_ + d, load(key_rows_.p + t * key_rows_.row + d) * strength);
      });
    }
    key_rows_ = {k_scratch_, row_};
  }

  void read_erasers() {
    for (std::int64_t t = 0; t < rows_.tokens; ++t) {
      const Real *k = key_rows_.p + t * key_rows_.row, *strength = rows_.erase.p + t * rows_.erase.row;
      Real* const to = erasers_.scratch + t * row_;
      std::fill_n(to, row_, Real{0});
      if (sizes_.own_erase_keys)
        map(sizes_.key_width, [&](std::int64_t d, int n) { store(to + d, -load(strength + d, n), n); });
      else if (sizes_.erase_width == 1)
        map(sizes_.key_width, [&](std::int64_t d, int n) { store(to + d, load(k + d, n) * Simd(-*strength), n); });
      else
        map(sizes_.key_width,
            [&](std::int64_t d, int n) { store(to + d, load(k + d, n) * -load(strength + d, n), n); });
    }
    erasers_.rows = {erasers_.scratch, row_};
    read(erasers_);
  }

  void decay_rows(Real* rows, const Real* of_head, const Real* of_channels) const {
    if (sizes_.decay == StateDecay::none) return;
    for (std::int64_t t = 0; t < rows_.tokens; ++t)
      map(row_, [&](std::int64_t d, int) {
        const Simd decay = sizes_.decay == StateDecay::head ? Simd(of_head[t]) : load(of_channels + t * row_ + d);
        store(rows + t * row_ + d, load(rows + t * row_ + d) * decay);
      });
  }

  // Turns rows [tokens, row_] into [K, block_tokens].
  void turn(const Real* rows, std::int64_t tokens, Real* columns) const {
    pack_columns({rows, row_, 1}, tokens, sizes_.key_width, 1, columns, block_tokens);
  }

  void read_decays() {
    if (sizes_.decay == StateDecay::channel) return read_channels();
    pack_columns({key_rows_.p, key_rows_.row, 1}, rows_.tokens, sizes_.key_width, 1, k_, block_tokens);
    if (sizes_.decay == StateDecay::none) return;
    double sum = 0;
    double sums[block_tokens];
    for (std::int64_t t = 0; t < rows_.tokens; ++t)
      sums[t] = sum += static_cast<double>(rows_.log_decay.p[t * rows_.log_decay.row]);
    // Tokens beyond the block's decay no further; their keys are 0.
    for (std::int64_t t = 0; t < block_tokens; ++t) {
      const double here = t < rows_.tokens ? sums[t] : sum;
      head_sums_[t] = static_cast<Real>(here);
      head_to_end_[t] = static_cast<Real>(sum - here);
    }
    whole_of_head_ = exponential_of(static_cast<Real>(sum));
    exponentials(head_to_end_, head_to_end_, block_tokens);
    scale_tokens(k_, head_to_end_, k_decayed_);
  }

  // Products of the decays of single tokens: no digit is lost where they are far from 1.
  void read_channels() {
    const std::int64_t n = rows_.tokens;
    const PackedRows log_decay = pack_rows(rows_.log_decay, n, sizes_.key_width, row_scratch_);
    for (std::int64_t t = 0; t < n; ++t)
      map(row_, [&](std::int64_t d, int) {
        const Simd step = exponential(load(log_decay.p + t * log_decay.row + d));
        store(steps_ + t * row_ + d, step);
        store(from_start_ + t * row_ + d, t == 0 ? step : load(from_start_ + (t - 1) * row_ + d) * step);
      });
    std::fill_n(to_end_ + (n - 1) * row_, row_, Real{1});
    for (std::int64_t t = n - 2; t >= 0; --t)
      map(row_, [&](std::int64_t d, int) {
        store(to_end_ + t * row_ + d, load(to_end_ + (t + 1) * row_ + d) * load(steps_ + (t + 1) * row_ + d));
      });
    for (std::int64_t t = 0; t < n; ++t)
      map(row_, [&](std::int64_t d, int) {
        store(row_scratch_ + t * row_ + d, load(key_rows_.p + t * key_rows_.row + d) * load(to_end_ + t * row_ + d));
      });
    turn(row_scratch_, n, k_decayed_);
  }

  // What the weights of all pairs need beside the readers.
  void prepare_pairs() {
    if (sizes_.decay == StateDecay::head) {
      exponentials(head_sums_, head_from_start_, block_tokens);
      for (std::int64_t i = 0; i < rows_.tokens; ++i) {
        Real* const decays = pair_decays_ + i * block_tokens;
        for (std::int64_t j = 0; j < block_tokens; ++j)
          decays[j] = j <= i ? head_sums_[i] - head_sums_[j] : Real{0}; // before exp: later tokens would overflow
        exponentials(decays, decays, block_tokens);
      }
    }
    if (sizes_.decay != StateDecay::channel) return;
    for (raised_ = 0; raised_ < rows_.tokens && !decays_below_least(raised_); ++raised_)
      map(row_, [&](std::int64_t d, int) {
        const Simd raise = Simd(1) / load(from_start_ + raised_ * row_ + d);
        store(raise_ + raised_ * row_ + d, raise);
        store(k_raised_rows_ + raised_ * row_ + d, load(key_rows_.p + raised_ * key_rows_.row + d) * raise);
      });
    turn(k_raised_rows_, raised_, k_);
  }

  // The weights of readers and keys, from the readers' rows.
  void read(StateReaders& of) const {
    const std::int64_t n = rows_.tokens, width = sizes_.key_width;
    if (sizes_.decay == StateDecay::channel) {
      pair_channels(of);
    } else {
      pack_columns({of.rows.p, of.rows.row, 1}, n, width, 1, of.columns, block_tokens);
      small_product({of.columns, 1, block_tokens}, k_, block_tokens, of.pairs, block_tokens, n, block_tokens, width,
                    false);
    }
    if (sizes_.decay == StateDecay::head) scale_tokens(of.columns, head_from_start_, of.decayed);
    weigh(of, of.pairs);
  }

  void pair_channels(StateReaders& of) const {
    const std::int64_t n = rows_.tokens;
    for (std::int64_t t = 0; t < n; ++t)
      map(row_, [&](std::int64_t d, int) {
        store(of.decayed_rows + t * row_ + d, load(of.rows.p + t * of.rows.row + d) * load(from_start_ + t * row_ + d));
      });
    turn(of.decayed_rows, n, of.decayed);
    small_product({of.decayed, 1, block_tokens}, k_, block_tokens, of.pairs, block_tokens, raised_, block_tokens,
                  sizes_.key_width, false);
    for (std::int64_t i = raised_; i < n; ++i) {
      Real* const decayed = row_scratch_;
      std::copy_n(of.rows.p + i * of.rows.row, row_, decayed);
      for (std::int64_t j = i; j >= 0; --j) {
        const Real *k = key_rows_.p + j * key_rows_.row, *step = steps_ + j * row_;
        of.pairs[i * block_tokens + j] = sum_over(row_, [&](std::int64_t d, int m) {
          const Simd q = load(decayed + d, m);
          store(decayed + d, q * load(step + d, m), m);
          return q * load(k + d, m);
        });
      }
    }
  }
  // Has a channel decayed too far at token t, from the block's start?
  bool decays_below_least(std::int64_t t) const {
    constexpr Real least_decay = Real(0x1p-40);
    bool below = false;
    map(row_, [&](std::int64_t d, int) {
      below = below || xsimd::any(load(from_start_ + t * row_ + d) < Simd(least_decay));
    });
    return below;
  }

  RecurrenceSizes sizes_;
  std::int64_t row_;
  BlockRows rows_{};
  PackedRows values_{}, key_rows_{};
  StateReaders queries_{.see_own_token = true}, erasers_{.see_own_token = false};
  Real *k_, *k_decayed_; // [K, block_tokens]; k_ is raised with StateDecay::channel
  Real *value_scratch_, *k_scratch_;
  // StateDecay::head: sums from the start to each token, the decays, and those of pairs
  alignas(64) Real head_sums_[block_tokens], head_from_start_[block_tokens], head_to_end_[block_tokens];
  Real whole_of_head_ = 1, *pair_decays_ = nullptr;
  // StateDecay::channel: the decay of each token, the decays from the start, their reciprocals, and those to the end
  Real *steps_ = nullptr, *from_start_ = nullptr, *raise_ = nullptr, *to_end_ = nullptr;
  Real *k_raised_rows_ = nullptr, *row_scratch_ = nullptr;
  std::int64_t raised_ = 0; // how many tokens the matrix product serves
};

} // namespace heed::HEED_REAL
