// Gradient checks as the tests call them.
#pragma once

#include "autograd/gradcheck.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/catch.hpp"

#include <functional>

namespace heed::HEED_REAL {

using Tensors = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensors&)>;

// Sanitizers look at memory, which one element's derivative shows as well as another's.
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

/// The gradient of a function of one tensor, for every view that has the shape.
inline void check_views(const std::string& what, const Shape& shape, const Domain& domain,
                        const std::function<Tensor(const Tensor&)>& function) {
  for (const View& view : views())
    if (view.fits(shape))
      check_gradient(what + " of " + shape.text() + ", " + view.name,
                     [&](const Tensors& x) { return function(view.take(x[0], shape)); },
                     {input(view.of(shape), 1, domain)});
}

/// A tensor of this shape, seen through this view.
struct Seen {
  Shape shape;
  View view;
  Domain domain = {};
};

/// The gradient of a function of two tensors, each seen through its view.
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
