// Gradients against finite differences.
#pragma once

#include "autograd/tape.hpp"

#include <functional>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// One operand of a checked function: its shape and its numbers, row-major.
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
  /// Of each input's elements, the first and each so many further are checked: 1 checks all.
  std::size_t every = 1;
};

struct GradcheckResult {
  bool passed = true;
  double worst = 0;    ///< the largest |analytic - numeric| / max(1, |analytic|, |numeric|)
  std::string message; ///< where the worst is: "input 1 (key) [2, 3] element 4: analytic 0.1, numeric 0.2"
};

/// Checks the gradient of a function by every element of every input, or by some of them. A result with several
/// elements is weighted with fixed random numbers and summed, so that every element of the Jacobian counts. The
/// function must be smooth around the inputs. It is called with fresh leaves each time, and must not depend on anything
/// that changes between calls. It also checks that the gradients come out the same where each input's gradient buffer
/// held garbage before, and that an input is used correctly where the same tensor takes part twice (the weighted sum
/// adds each input to itself).
GradcheckResult gradcheck(const std::function<Tensor(Tape&, const std::vector<Tensor>&)>& function,
                          const std::vector<CheckInput>& inputs, const GradcheckOptions& options = {});

} // namespace heed::HEED_REAL
