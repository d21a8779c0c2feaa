// What turns a row of scores into attention weights, as streaming kernels ask for it: one row at a time.
#pragma once

#include "autograd/real.hpp"

#include <cstdint>
#include <utility>

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
  /// `begin_backward` and `end_backward`, which puts them into the tape; rows come in the order of batch entries, heads and
  /// queries.
  virtual bool requires_grad() const { return false; }
  virtual void begin_backward() const {}
  virtual void end_backward(Tape&) const {}

protected:
  ~RowRules() = default;
};

/// A rule from the scores of a row to its weights. It sees the n > 0 scores of the keys that the query may attend to,
/// in their order and without gaps; all other weights are 0. A row with a NaN should give NaN. Rules that have numbers
/// of their own must live until the backward pass is done.
class RowPolicy : public RowRules {
public:
  const RowPolicy& of_head(std::int64_t) const final { return *this; }
  /// w from s. `scratch` has room for n numbers, and on to the end of a vector, here and below.
  virtual void weights(const Real* s, Real* w, std::int64_t n, Real* scratch) const = 0;
  /// The gradient by the scores, ds, from that by the weights, dw. s and w are what `weights` read and wrote.
  virtual void backward(const Real* s, const Real* w, const Real* dw, Real* ds, std::int64_t n,
                        Real* scratch) const = 0;

protected:
  ~RowPolicy() = default;
};

// What rules are made of, in vectors: of a row of n >= 1 numbers.

/// The largest; a NaN may be passed over.
Real row_largest(const Real* x, std::int64_t n);
/// The k-th largest, 1 <= k <= n, without a NaN among them. `scratch` has room for n numbers.
Real row_kth_largest(const Real* x, std::int64_t k, std::int64_t n, Real* scratch);
Real row_sum(const Real* x, std::int64_t n);
/// The sum of x_j y_j.
Real row_dot(const Real* x, const Real* y, std::int64_t n);
bool row_has_nan(const Real* x, std::int64_t n);
/// y_j = NaN for all j, where a score of x is one, or the largest is infinite; then true.
bool row_is_lost(const Real* x, Real* y, std::int64_t n);
/// y_j = the square root of x_j.
void row_roots(const Real* x, Real* y, std::int64_t n);
/// y_j = exp(x_j - shift), and their sum. Where x_j is a NaN, so are both.
Real row_exponentials(const Real* x, Real shift, Real* y, std::int64_t n);
/// y_j = exp(x_j - shift) where x_j >= least, else 0; and the number of the former.
std::int64_t row_exponentials_from(const Real* x, Real least, Real shift, Real* y, std::int64_t n);
/// y_j = factor (x_j - the largest of x), and minus infinity from there to the end of a vector.
void row_from_top(const Real* x, Real factor, Real* y, std::int64_t n);
/// With a_j = max(x_j - threshold, 0): the sums of a_j and of their squares. x ends as row_from_top leaves it.
std::pair<Real, Real> row_above(const Real* x, Real threshold, std::int64_t n);

/// a_j = max(factor (x_j - shift) - threshold, 0), worked out in double, whatever Real is: for powers, which take
/// digits away.
struct RowLine {
  double factor, shift, threshold;
};
/// The sums of a_j^power, and of a_j^(power - 1) over a_j > 0.
struct RowPowerSums {
  double of_power, of_one_less;
};
RowPowerSums row_power_sums(const Real* x, const RowLine& line, double power, std::int64_t n);
/// y_j = a_j^power where a_j > 0, else 0.
void row_powers(const Real* x, const RowLine& line, double power, Real* y, std::int64_t n);

} // namespace heed::HEED_REAL
