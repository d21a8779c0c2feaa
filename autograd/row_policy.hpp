// What turns a row of scores into attention weights, as streaming kernels ask for it: one row at a time.
#pragma once

#include "autograd/real.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

class Tape;
class RowPolicy;

/// The rules for rows in one attention of one pass: one for each head, or the same for all. They must live until the
/// backward pass is done.
class RowRules {
public:
  /// For rows of head h.
  virtual const RowPolicy& of_head(std::int64_t h) const = 0;
  /// Do they have learned numbers of their own? Then each `slopes` adds to these numbers' gradients, too, between
  /// `begin_slopes` and `end_slopes`, which puts them into the tape; rows come in the order of batch entries, heads and
  /// queries.
  virtual bool requires_grad() const { return false; }
  virtual void begin_slopes() const {}
  virtual void end_slopes(Tape&) const {}

protected:
  ~RowRules() = default;
};

/// A rule from the scores of a row to its weights. It sees the n > 0 scores of the keys that the query may attend to,
/// in their order and without gaps; all other weights are 0. A row with a NaN should give NaN. Rules that have numbers
/// of their own must live until the backward pass is done.
class RowPolicy : public RowRules {
public:
  const RowPolicy& of_head(std::int64_t) const final { return *this; }
  /// w from s. `scratch` has room for n numbers, here and below.
  virtual void weights(const Real* s, Real* w, std::int64_t n, Real* scratch) const = 0;
  /// The gradient by the scores, ds, from that by the weights, dw. s and w are what `weights` read and wrote.
  virtual void slopes(const Real* s, const Real* w, const Real* dw, Real* ds, std::int64_t n, Real* scratch) const = 0;

protected:
  ~RowPolicy() = default;
};

// What rules are made of, in vectors: of a row of n >= 1 numbers.

/// The largest; a NaN may be passed over.
Real row_largest(const Real* x, std::int64_t n);
/// y_j = exp(x_j - shift), and their sum. Where x_j is a NaN, so are both.
Real row_exponentials(const Real* x, Real shift, Real* y, std::int64_t n);
Real row_sum(const Real* x, std::int64_t n);
/// The sum of x_j y_j.
Real row_dot(const Real* x, const Real* y, std::int64_t n);
/// y_j = NaN for all j, where a score of x is one, or the largest is infinite; then true.
bool row_is_lost(const Real* x, Real* y, std::int64_t n);

} // namespace heed::HEED_REAL
