// What turns a row of scores into attention weights, as streaming kernels ask for it: one row at a time.
#pragma once

#include "autograd/real.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// A rule from the scores of a row to its weights. It sees the n > 0 scores of the keys that the query may attend to,
/// in their order and without gaps; all other weights are 0. A row with a NaN should give NaN. Rules that have numbers
/// of their own must live until the backward pass is done.
class RowPolicy {
public:
  /// w from s. `scratch` has room for n numbers, here and below.
  virtual void weights(const Real* s, Real* w, std::int64_t n, Real* scratch) const = 0;
  /// The gradient by the scores, ds, from that by the weights, dw. s and w are what `weights` read and wrote.
  virtual void slopes(const Real* s, const Real* w, const Real* dw, Real* ds, std::int64_t n, Real* scratch) const = 0;

protected:
  ~RowPolicy() = default;
};

} // namespace heed::HEED_REAL
