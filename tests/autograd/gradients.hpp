// Helpers for gradient checks in tests.
#pragma once

#include "autograd/gradcheck.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/catch.hpp"

#include <functional>

namespace heed::HEED_REAL {

using Tensors = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensors&)>;

// Sanitizers check memory accesses, and a few elements cover the same accesses as all elements.
#ifdef HEED_INSTRUMENTED
inline constexpr std::size_t checked_elements = 16;
#else
inline constexpr std::size_t checked_elements = 1;
#endif

inline CheckInput input(const Shape& shape, std::uint64_t seed, const Domain& domain = {}) {
  return {shape, draw(shape.size(), seed, domain), {}};
}

inline void check_gradient(const std::string& what, const Function& function, const std::vector<CheckInput>& inputs) {
  INFO(what);
  const GradcheckResult result = gradcheck([&](Tape&, const Tensors& x) { return function(x); }, inputs,
                                           {.every = checked_elements});
  INFO(result.message);
  CHECK(result.passed);
}

/// Checks the gradient of a function of one tensor, for every view that fits the shape.
inline void check_views(const std::string& what, const Shape& shape, const Domain& domain,
                        const std::function<Tensor(const Tensor&)>& function) {
  for (const View& view : views())
    if (view.fits(shape))
      check_gradient(what + " of " + shape.text() + ", " + view.name,
                     [&](const Tensors& x) { return function(view.take(x[0], shape)); },
                     {input(view.of(shape), 1, domain)});
}

/// A shape, and the view through which the tensor is seen.
struct Seen {
  Shape shape;
  View view;
  Domain domain = {};
};

/// Checks the gradient of a function of two tensors, each seen through its view.
inline void check_view_pair(const std::string& what, const Seen& left, const Seen& right,
                            const std::function<Tensor(const Tensor&, const Tensor&)>& function) {
  check_gradient(what + " of " + left.shape.text() + ", " + left.view.name + ", and " + right.shape.text() + ", " +
                     right.view.name,
                 [&](const Tensors& x) {
                   return function(left.view.take(x[0], left.shape), right.view.take(x[1], right.shape));
                 },
                 {input(left.view.of(left.shape), 1, left.domain), input(right.view.of(right.shape), 2, right.domain)});
}

} // namespace heed::HEED_REAL
