// The gradients of one block of tokens of a linear recurrence (autograd/linear_recurrence.hpp), for one head.
#pragma once

#include "autograd/kernels/heads.hpp"
#include "autograd/kernels/recurrence_block.hpp"

namespace heed::HEED_REAL {

/// Where the gradients of one head go, the outputs and their gradients, and the divisor of each token's output, which
/// RecurrenceSizes::normalized needs. Gradients of `erase` are put after those of `write`.
struct HeadGradients {
  GradRows q, k, v, log_decay, write, erase;
  Scattered dy, y;
  const Real* divisors;
};

/// The gradients of one block, which has read queries and what is written.
class RecurrenceGradients {
public:
  RecurrenceGradients(Tape::Scratch& scratch, const RecurrenceSizes& sizes) : block(scratch, sizes) {
    const std::int64_t of_values = block_tokens * sizes.padded_values(), of_keys = block_tokens * block.row();
    grad_state = scratch.take<Real>(sizes.state_size());
    for (Real** of : {&dy_rows_, &dy_columns_, &value_columns_, &dv_}) *of = scratch.take<Real>(of_values);
    for (Real** of : {&columns_, &dq_, &dk_, &dg_}) *of = scratch.take<Real>(of_keys);
    grad_pairs_ = scratch.take<Real>(block_tokens * block_tokens);
    if (sizes.erases()) de_ = scratch.take<Real>(of_keys);
    end_ = scratch.take<Real>(block.row());
  }

  RecurrenceBlock block;
  Real* grad_state; ///< of the state after the block

  /// Puts the gradients of the block of tokens from t0, before which the state was `state`. grad_state becomes that of
  /// this state.
  void put(const Real* state, const HeadGradients& to, std::int64_t t0) {
    const RecurrenceSizes& sizes = block.sizes();
    const std::int64_t n = block.tokens(), K = sizes.key_width, V = sizes.columns(), row = block.row(),
                       v_row = sizes.padded_values();
    const PackedRows& k = block.key_rows();
    const PackedRows dy_rows = output_gradients(to, t0);
    const Scattered dy{dy_rows.p, dy_rows.row, 1};
    pack_columns(dy, n, V, 1, dy_columns_, block_tokens);
    pack_columns({block.value_rows().p, block.value_rows().row, 1}, n, V, 1, value_columns_, block_tokens);

    gradients_of_pairs(dy, block.queries());
    if (to.v.p || sizes.erases()) {
      small_product({block.queries().pairs, 1, block_tokens}, dy_rows.p, dy_rows.row, dv_, v_row, n, v_row, n, false);
      small_product({block.decayed_keys(), 1, block_tokens}, grad_state, v_row, dv_, v_row, n, v_row, K, true);
    }

    // Through the state.
    const auto rows_of_state = [&](const Real* of, const Real* right, Real* rows) {
      small_product({of, v_row, 1}, right, block_tokens, columns_, block_tokens, K, block_tokens, V, false);
      pack_columns({columns_, block_tokens, 1}, K, n, 1, rows, row);
    };
    rows_of_state(state, dy_columns_, dq_);
    block.decay_from_start(dq_);
    rows_of_state(grad_state, value_columns_, dk_);
    block.decay_to_end(dk_);
    if (to.log_decay.p) {
      std::fill_n(end_, row, Real{0});
      for (std::int64_t t = 0; t < n; ++t) add_products(k.p + t * k.row, dk_ + t * row, row, end_);
      for (std::int64_t d = 0; d < K; ++d)
        end_[d] += block.whole(d) * sum_over(v_row, [&](std::int64_t c, int m) {
                     return load(grad_state + d * v_row + c, m) * load(state + d * v_row + c, m);
                   });
    }
    block.add_pair_gradients(block.queries(), grad_pairs_, dq_, dk_);
    if (sizes.erases()) {
      // dv_ becomes the gradient of the values, which the erasers' products are added to.
      block.leave_erasers(dv_);
      const Scattered dv{dv_, v_row, 1};
      pack_columns(dv, n, V, 1, dy_columns_, block_tokens);
      rows_of_state(state, dy_columns_, de_);
      block.decay_from_start(de_);
      gradients_of_pairs(dv, block.erasers());
      block.add_pair_gradients(block.erasers(), grad_pairs_, de_, dk_);
    }

    if (to.log_decay.p) put_decay_gradients(to.log_decay, t0);
    block.decay(grad_state);
    small_product({block.queries().decayed, block_tokens, 1}, dy_rows.p, dy_rows.row, grad_state, v_row, K, v_row, n,
                  true);
    if (sizes.erases())
      small_product({block.erasers().decayed, block_tokens, 1}, dv_, v_row, grad_state, v_row, K, v_row, n, true);
    if (const BlockRows& rows = block.rows(); rows.write.p) {
      if (sizes.erases()) leave_write(rows.v, sizes.value_width, dv_, v_row, to.write, t0);
      else leave_write(rows.k, K, dk_, row, to.write, t0);
    }
    if (sizes.erases()) leave_erase(to.erase, t0);
    if (to.v.p) put_rows(dv_, v_row, n, sizes.value_width, 1, to.v, t0);
    if (to.q.p) put_rows(dq_, row, n, K, 1, to.q, t0);
    if (to.k.p) put_rows(dk_, row, n, K, 1, to.k, t0);
  }

private:
  // Of the weights of pairs, from rows of gradients of what the readers get.
  void gradients_of_pairs(const Scattered& rows, const StateReaders& readers) const {
    small_product(rows, value_columns_, block_tokens, grad_pairs_, block_tokens, block.tokens(), block_tokens,
                  block.sizes().columns(), false);
    block.weigh(readers, grad_pairs_);
  }

  // The gradients of a block's outputs before they were divided, as rows of whole vectors.
  PackedRows output_gradients(const HeadGradients& to, std::int64_t t0) const {
    const RecurrenceSizes& sizes = block.sizes();
    const std::int64_t n = block.tokens(), width = sizes.value_width;
    if (!sizes.normalized) return pack_rows(to.dy.from(t0), n, width, dy_rows_);
    for (std::int64_t t = 0; t < n; ++t) {
      const Real *dy = to.dy.p + (t0 + t) * to.dy.row, *y = to.y.p + (t0 + t) * to.y.row;
      Real* const row = dy_rows_ + t * sizes.padded_values();
      const Real divisor = to.divisors[t0 + t];
      std::fill(row + width, row + sizes.padded_values(), Real{0});
      map(width, [&](std::int64_t c, int m) { store(row + c, load(dy + c, m) / Simd(divisor), m); });
      row[width] = -sum_over(width, [&](std::int64_t c, int m) { return load(row + c, m) * load(y + c, m); });
    }
    return {dy_rows_, sizes.padded_values()};
  }

  // sum over rows of x y, for each of the room's channels.
  static void add_products(const Real* x, const Real* y, std::int64_t row, Real* to) {
    map(row,
        [&](std::int64_t d, int n) { store(to + d, fused(load(x + d, n), load(y + d, n), load(to + d, n), n), n); });
  }

  // The gradient of the decays, from those of queries and keys: with G_t, the sum of decays up to token t, dG_t = q_t
  // dq_t + e_t de_t - k_t dk_t, with erasers e; the block's end gets what `end` holds. A decay is a summand of its own
  // sum and of all later ones.
  void put_decay_gradients(const GradRows& to, std::int64_t t0) {
    const PackedRows &q = block.queries().rows, &k = block.key_rows(), &e = block.erasers().rows;
    const std::int64_t row = block.row(), n = block.tokens(), width = block.sizes().key_width;
    const bool by_channel = block.sizes().decay == StateDecay::channel;
    double of_head = 0;
    for (std::int64_t t = n - 1; t >= 0; --t) {
      const Real *dq = dq_ + t * row, *dk = dk_ + t * row;
      map(row, [&](std::int64_t d, int m) {
        Simd here = fused(load(q.p + t * q.row + d, m), load(dq + d, m),
                          load(end_ + d, m) - load(k.p + t * k.row + d, m) * load(dk + d, m), m);
        if (de_) here = fused(load(e.p + t * e.row + d, m), load(de_ + t * row + d, m), here, m);
        store(end_ + d, here, m);
      });
      if (by_channel) {
        std::copy_n(end_, row, dg_ + t * row);
      } else {
        of_head += static_cast<double>(sum_over(row, [&](std::int64_t d, int m) { return load(end_ + d, m); }));
        std::fill_n(end_, row, Real{0});
        dg_[t * row] = static_cast<Real>(of_head);
      }
    }
    put_rows(dg_, row, n, by_channel ? width : 1, 1, to, t0);
  }

  // Adds the gradients of erasers to those of keys, and puts those of the strength of the erase, or of the erase keys.
  void leave_erase(const GradRows& to, std::int64_t t0) {
    const BlockRows& rows = block.rows();
    const std::int64_t width = block.sizes().key_width;
    if (block.sizes().own_erase_keys) {
      if (to.p) put_rows(de_, block.row(), rows.tokens, width, -1, to, t0);
      return;
    }
    const bool by_channel = block.sizes().erase_width > 1;
    for (std::int64_t t = 0; t < rows.tokens; ++t) {
      Real *const de = de_ + t * block.row(), *const dk = dk_ + t * block.row();
      const Real *k = block.key_rows().p + t * block.key_rows().row, *strength = rows.erase.p + t * rows.erase.row;
      map(width, [&](std::int64_t d, int n) {
        const Simd by = by_channel ? load(strength + d, n) : Simd(*strength), minus_de = -load(de + d, n);
        store(dk + d, fused(by, minus_de, load(dk + d, n), n), n);
        store(de + d, load(k + d, n) * minus_de, n);
      });
      if (to.p && !by_channel)
        accumulate(to.p[(t0 + t) * to.row], sum_over(width, [&](std::int64_t d, int n) { return load(de + d, n); }),
                   to.overwrite);
    }
    if (to.p && by_channel) put_rows(de_, block.row(), rows.tokens, width, 1, to, t0);
  }

  // Turns gradients [tokens, row] of keys or values times the strength of the write into those of these operands, and
  // adds those of the strength.
  void leave_write(const Scattered& operand, std::int64_t width, Real* gradients, std::int64_t row, const GradRows& to,
                   std::int64_t t0) {
    const BlockRows& rows = block.rows();
    for (std::int64_t t = 0; t < rows.tokens; ++t) {
      Real* const dx = gradients + t * row;
      const Real* const x = operand.p + t * operand.row;
      if (to.p)
        accumulate(to.p[(t0 + t) * to.row],
                   sum_over(width, [&](std::int64_t d, int n) { return load(x + d, n) * load(dx + d, n); }),
                   to.overwrite);
      const Simd strength(rows.write.p[t * rows.write.row]);
      map(width, [&](std::int64_t d, int n) { store(dx + d, load(dx + d, n) * strength, n); });
    }
  }

  Real *dy_rows_, *dy_columns_; // [tokens, V], [V, tokens]
  Real *value_columns_, *dv_;   // [V, tokens], [tokens, V]
  Real *grad_pairs_, *columns_; // [tokens, tokens], [K, tokens]
  Real *dq_, *dk_, *dg_, *end_; // [tokens, K], [K]
  Real* de_ = nullptr;          // [tokens, K], of erasers
};

} // namespace heed::HEED_REAL
