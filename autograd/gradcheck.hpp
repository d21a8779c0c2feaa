// Gradient checks: gradients of the engine compared with finite differences.
#pragma once

#include "autograd/tape.hpp"

#include <functional>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// One operand of a checked function: its shape and its values, row-major.
struct CheckInput {
  Shape shape;
  std::vector<Real> values;
  std::string name;
};

struct GradcheckOptions {
  /// Step of the five-point central difference (error O(step^4)), relative to max(1, |x|).
  double step = 1e-3;
  /// |analytic - numeric| <= tolerance max(1, |analytic|, |numeric|), per element.
  double tolerance = 1e-6;
  /// Checks every n-th element of each input, starting with the first; 1 checks all.
  std::size_t every = 1;
};

struct GradcheckResult {
  bool passed = true;
  double worst = 0;    ///< the largest |analytic - numeric| / max(1, |analytic|, |numeric|)
  std::string message; ///< describes the worst element: "input 1 (key) [2, 3] element 4: analytic 0.1, numeric 0.2"
};

/// Checks the gradient of a function with respect to every element of every input, or to some of the elements. A result
/// with several elements is weighted with fixed random numbers and summed, so every element of the Jacobian matters.
/// The function must be smooth around the inputs. It is called with fresh leaves each time, and must not depend on
/// anything that changes between calls.
/// It also checks two more properties. Gradients must not depend on garbage that was in an input's gradient buffer
/// before. Gradients must be correct if the same tensor is used twice (the weighted sum adds each input to itself).
GradcheckResult gradcheck(const std::function<Tensor(Tape&, const std::vector<Tensor>&)>& function,
                          const std::vector<CheckInput>& inputs, const GradcheckOptions& options = {});

} // namespace heed::HEED_REAL
