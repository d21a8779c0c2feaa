// Gradients of whole modules, by their inputs and by all of their parameters, against differences.
#pragma once

#include "tests/layers/layer_support.hpp"

#include <fmt/format.h>

namespace heed::HEED_REAL {

/// A module applied to its inputs.
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

/// Checks the derivative of a weighted sum of the module's result by every number of the inputs and of the parameters:
/// |analytic - difference| <= 1e-6 max(1, |analytic|, |difference|), with a five-point central difference of step 1e-4.
/// For double precision. The gradients hold garbage before.
inline void check_module(Weights& weights, std::vector<Operand> inputs, const Module& module) {
  constexpr double step = 1e-4, tolerance = 1e-6;
  std::fill(weights.gradients.begin(), weights.gradients.end(), Real(123));
  for (Operand& x : inputs) std::fill(x.gradient.begin(), x.gradient.end(), Real(123));
  detail::loss_of(weights, inputs, module, true);
  double worst = 0;
  std::string where = "nothing to differentiate by";
  const auto look = [&](const std::string& name, Real* values, const Real* gradient, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const Real kept = values[i];
      const auto at = [&](double offset) {
        values[i] = static_cast<Real>(static_cast<double>(kept) + offset);
        return detail::loss_of(weights, inputs, module, false);
      };
      const double near = at(step) - at(-step), far = at(2 * step) - at(-2 * step);
      const double numeric = (8 * near - far) / (12 * step);
      values[i] = kept;
      const double analytic = static_cast<double>(gradient[i]);
      const double error = std::abs(analytic - numeric) / std::max({1.0, std::abs(analytic), std::abs(numeric)});
      if (error > worst || std::isnan(error) || where.front() == 'n') {
        worst = std::isnan(error) ? INFINITY : error;
        where = fmt::format("[{}] element {}: analytic {}, by differences {}", name, i, analytic, numeric);
      }
    }
  };
  const std::vector<Real> gradients = weights.gradients;
  for (const auto& e : weights.parameters.entries())
    look(e.name, weights.parameters.values() + e.offset, gradients.data() + e.offset, e.shape.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<Real> gradient = inputs[i].gradient;
    look("input " + std::to_string(i), inputs[i].values.data(), gradient.data(), inputs[i].shape.size());
  }
  INFO(where);
  CHECK(worst <= tolerance);
}

} // namespace heed::HEED_REAL
