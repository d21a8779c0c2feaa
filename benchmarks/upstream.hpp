// A given upstream gradient, so that an operation's backward pass can be measured without a loss.
#pragma once

#include "autograd/tape.hpp"

#include <algorithm>
#include <functional>

namespace heed::HEED_REAL::bench {

/// A scalar (its value has no meaning) whose derivative with respect to y is `gradient`: y.size() values in the memory
/// order of y's elements. y must fill its memory without gaps.
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
