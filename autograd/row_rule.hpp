// RowRule and RowRules: the rules that turn a row of scores into attention weights, one row at a time (for streaming
// kernels), and functions of a row that several rules use. row_vectors.hpp has what a rule's own loops are made of.
#pragma once

#include "autograd/real.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

class Tape;
class RowRule;

/// The row rules of one attention in one pass: one rule for each head, or one for all heads. They must live until the
/// backward pass is done.
class RowRules {
public:
  /// The rule for rows of head h.
  virtual const RowRule& of_head(std::int64_t h) const = 0;
  /// Do the rules have learned parameters? Then each `backward` of a rule also adds to these parameters' gradients,
  /// between `begin_backward` and `end_backward`. `end_backward` writes the gradients to the tape. Rows come in the
  /// order of batch entries, heads and queries.
  virtual bool requires_grad() const { return false; }
  virtual void begin_backward() const {}
  virtual void end_backward(Tape&) const {}

protected:
  ~RowRules() = default;
};

/// The keys of a row: those that the query may attend to, in their order and without gaps.
struct RowKeys {
  std::int64_t n = 0; ///< their number
  /// Only for rules that are ordered: how many of them come before the query's own position, and whether the key at
  /// this position is among them. It then has the index `earlier`.
  std::int64_t earlier = 0;
  bool own = false;
};

/// A rule that computes the weights of a row from its scores. It receives the scores of the n > 0 keys that the query
/// may attend to, of which at least one is above minus infinity; all other weights are 0. A row with a NaN should give
/// NaN. Rules with their own data must live until the backward pass is done.
class RowRule : public RowRules {
public:
  const RowRule& of_head(std::int64_t) const final { return *this; }
  /// The three functions below, for any row: where the query sees no key, or all scores are minus infinity (a bias or a
  /// formula may say so), weights and gradients are 0.
  void row_weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& value) const;
  void row_backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                    Real* scratch) const;
  void row_weights_and_backward(Real value, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                                Real* scratch) const;

  /// Does the rule depend on the order of the keys, and on the query's own position among them?
  virtual bool is_ordered() const { return false; }
  /// Computes w from s. It may set `value`, which is 0, to a number of the row, such as a threshold. Here and below,
  /// `scratch` has space for two rows of n values, each rounded up to whole SIMD vectors.
  virtual void weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& value) const = 0;
  /// Computes ds, the gradient with respect to the scores, from dw, the gradient with respect to the weights. s is the
  /// input of `weights`; w and `value` are its results.
  virtual void backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                        Real* scratch) const = 0;
  /// Computes w again, and ds, for streaming kernels, which keep only `value` from the forward pass. A rule may do this
  /// in less time than the two functions, with the same results up to rounding.
  virtual void weights_and_backward(Real value, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                                    Real* scratch) const {
    Real again = 0;
    weights(s, w, keys, scratch, again);
    backward(value, s, w, dw, ds, keys, scratch);
  }

protected:
  ~RowRule() = default;
};

// Functions of a row of n values, vectorised; n >= 1 where the result is one of them.

/// The maximum; it may ignore NaNs.
Real row_largest(const Real* x, std::int64_t n);
Real row_sum(const Real* x, std::int64_t n);
/// The sum of x_j y_j.
Real row_dot(const Real* x, const Real* y, std::int64_t n);
/// Multiplies each x_j by a factor, and returns the sum of x_j y_j after it.
Real row_scale_and_dot(Real factor, Real* x, const Real* y, std::int64_t n);
bool row_has_nan(const Real* x, std::int64_t n);
/// Is every x_j minus infinity? Also for n = 0.
bool row_sees_nothing(const Real* x, std::int64_t n);
/// If a score of x is NaN or the largest is infinite: sets all y_j = NaN and returns true. Otherwise returns false.
bool row_is_lost(const Real* x, Real* y, std::int64_t n);
/// y_j = exp(x_j - shift); returns their sum. If x_j is NaN, y_j and the sum are NaN.
Real row_exponentials(const Real* x, Real shift, Real* y, std::int64_t n);
/// y_j = factor (x_j - max of x), and minus infinity in the rest of the last SIMD vector.
void row_from_top(const Real* x, Real factor, Real* y, std::int64_t n);
/// y_j = 1 for the largest x_j (the first one if several are equal), else 0. NaN in all places if an x_j is NaN.
void row_one_hot(const Real* x, Real* y, std::int64_t n);

} // namespace heed::HEED_REAL
