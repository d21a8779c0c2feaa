// Gradient check of whole modules, by inputs and parameters together, with finite differences.
#pragma once

#include "tests/layers/layer_support.hpp"

#include <fmt/format.h>
#include <numeric>

namespace heed::HEED_REAL {

inline constexpr Domain moderate{-1, 1, 0};

/// A module as a function of its inputs.
using Module = std::function<Tensor(Pass&, const std::vector<Tensor>&)>;

namespace detail {

inline double loss_of(Weights& weights, std::vector<Operand>& inputs, const Module& module, bool backward) {
  Tape tape;
  Pass pass = weights.pass(tape, {.training = true, .seed = 3});
  std::vector<Tensor> on;
  for (Operand& x : inputs) on.push_back(x.on(tape));
  const Tensor y = module(pass, on);
  const Tensor loss = y.rank() == 0 ? y : weighted_sum(y);
  const double value = static_cast<double>(loss.item());
  if (!backward) return value;
  tape.backward(loss);
  pass.finish_gradients();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (Tape::untouched(on[i])) std::fill(inputs[i].gradient.begin(), inputs[i].gradient.end(), Real{0});
  return value;
}

} // namespace detail

/// The greatest error of a module's gradient, and where it is.
struct GradientError {
  double worst = 0;
  std::string where;
};

/// Compares the derivative of a weighted sum of the module's result along 8 random directions of length 1 in the space
/// of all inputs and parameters with a five-point central difference: the error is |analytic - difference| / max(1,
/// |analytic|, |difference|). With a thousand values, each value has a component of about 0.03 in a direction. The
/// module is evaluated 32 times instead of 4000 times. If the error in a direction is above the tolerance, each value
/// is checked separately to find the wrong one. For double precision only. The gradients hold garbage before the
/// backward pass.
inline GradientError gradient_error(Weights& weights, std::vector<Operand> inputs, const Module& module, double step,
                                    double tolerance) {
  std::fill(weights.gradients.begin(), weights.gradients.end(), Real(123));
  for (Operand& x : inputs) std::fill(x.gradient.begin(), x.gradient.end(), Real(123));
  detail::loss_of(weights, inputs, module, true);

  // All values to differentiate by: their addresses and their original values.
  struct Number {
    std::string list;
    std::size_t element;
    Real* at;
    Real before;
    double gradient;
  };
  std::vector<Number> numbers;
  const auto add = [&](const std::string& list, Real* values, const Real* gradient, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      numbers.push_back({list, static_cast<std::size_t>(i), values + i, values[i], static_cast<double>(gradient[i])});
  };
  for (const auto& e : weights.parameters.entries())
    add(e.name, weights.parameters.values() + e.offset, weights.gradients.data() + e.offset, e.shape.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    add("input " + std::to_string(i), inputs[i].values.data(), inputs[i].gradient.data(), inputs[i].shape.size());
  REQUIRE(!numbers.empty());

  GradientError out;
  const auto look = [&](const std::vector<double>& direction, const std::string& name) {
    const auto at = [&](double offset) {
      for (std::size_t i = 0; i < numbers.size(); ++i)
        *numbers[i].at = static_cast<Real>(static_cast<double>(numbers[i].before) + offset * direction[i]);
      return detail::loss_of(weights, inputs, module, false);
    };
    const double near = at(step) - at(-step), far = at(2 * step) - at(-2 * step);
    const double numeric = (8 * near - far) / (12 * step);
    double analytic = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) analytic += direction[i] * numbers[i].gradient;
    const double error = std::abs(analytic - numeric) / std::max({1.0, std::abs(analytic), std::abs(numeric)});
    if (!(error <= out.worst)) {
      out.worst = std::isnan(error) ? INFINITY : error;
      out.where = fmt::format("{}: analytic {}, by differences {}", name, analytic, numeric);
    }
  };

  std::vector<double> direction(numbers.size());
  for (std::uint64_t d = 0; d < 8; ++d) {
    RandomSource random({d, Stream::test, 0});
    for (double& x : direction) x = random.normal();
    const double length = std::sqrt(std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0));
    for (double& x : direction) x /= length;
    look(direction, fmt::format("direction {}", d));
  }
  if (!(out.worst <= tolerance))
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::fill(direction.begin(), direction.end(), 0.0);
      direction[i] = 1;
      look(direction, fmt::format("[{}] element {}", numbers[i].list, numbers[i].element));
    }
  for (const Number& number : numbers) *number.at = number.before;
  return out;
}

/// Checks that the error with a step of 1e-4 is at most 1e-8. This finds an error of 3e-7 in a single derivative.
inline void check_module(Weights& weights, std::vector<Operand> inputs, const Module& module) {
  constexpr double step = 1e-4, tolerance = 1e-8;
  const GradientError found = gradient_error(weights, std::move(inputs), module, step, tolerance);
  INFO(found.where);
  CHECK(found.worst <= tolerance);
}

} // namespace heed::HEED_REAL
