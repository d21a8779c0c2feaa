// A gradient that comes from outside, so that an operation's backward pass can be measured without a loss before it.
#pragma once

#include "autograd/tape.hpp"

#include <algorithm>
#include <functional>

namespace heed::HEED_REAL::bench {

/// A scalar (its value means nothing) whose derivative by y is `gradient`: y.size() numbers in the order in which y's
/// elements stand in memory, which y must fill without gaps.
inline Tensor upstream(const Tensor& y, const Real* gradient) {
  const Op op("upstream", {&y});
  op.check(y.slot->size == y.size(), "the result must have its memory to itself");
  const Tensor loss = op.output({});
  *loss.data = 0;
  op.record(loss, [y, gradient] {
    const GradTarget d = y.tape->grad_target(y);
    if (d.overwrite) std::copy_n(gradient, y.size(), d.p);
    else std::transform(gradient, gradient + y.size(), d.p, d.p, std::plus<>());
  });
  return loss;
}

} // namespace heed::HEED_REAL::bench
