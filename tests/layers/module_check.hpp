// Gradients of whole modules, by their inputs and by all of their parameters, against differences.
#pragma once

#include "tests/layers/layer_support.hpp"

#include <fmt/format.h>
#include <numeric>
#include <span>

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

/// Checks the derivative of a weighted sum of the module's result along 8 random directions of length 1, of all inputs
/// and parameters at once: |analytic - difference| <= 1e-8 max(1, |analytic|, |difference|), with a five-point central
/// difference of step 1e-4. Of a thousand numbers, each has a share of 0.03 in a direction, so that an error of 3e-7 in
/// one of them shows, for 32 values of the module in place of 4000. Where one shows, each number by itself says which.
/// For double precision. The gradients hold garbage before.
inline void check_module(Weights& weights, std::vector<Operand> inputs, const Module& module) {
  constexpr double step = 1e-4, tolerance = 1e-8;
  std::fill(weights.gradients.begin(), weights.gradients.end(), Real(123));
  for (Operand& x : inputs) std::fill(x.gradient.begin(), x.gradient.end(), Real(123));
  detail::loss_of(weights, inputs, module, true);

  // All numbers that there are to differentiate by, each list with its gradients.
  struct Numbers {
    std::string name;
    std::span<Real> values;
    std::vector<Real> gradient;
  };
  std::vector<Numbers> all;
  for (const auto& e : weights.parameters.entries()) {
    const auto n = static_cast<std::size_t>(e.shape.size());
    const Real* const gradient = weights.gradients.data() + e.offset;
    all.push_back({e.name, {weights.parameters.values() + e.offset, n}, {gradient, gradient + n}});
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    all.push_back({"input " + std::to_string(i), inputs[i].values, inputs[i].gradient});
  std::size_t size = 0;
  for (const Numbers& numbers : all) size += numbers.values.size();
  REQUIRE(size > 0);

  double worst = 0;
  std::string where;
  const auto look = [&](double analytic, const auto& moved, const auto& name) {
    const double near = moved(step) - moved(-step), far = moved(2 * step) - moved(-2 * step);
    const double numeric = (8 * near - far) / (12 * step);
    const double error = std::abs(analytic - numeric) / std::max({1.0, std::abs(analytic), std::abs(numeric)});
    if (!(error <= worst)) {
      worst = std::isnan(error) ? INFINITY : error;
      where = fmt::format("{}: analytic {}, by differences {}", name(), analytic, numeric);
    }
  };
  const auto value = [&] { return detail::loss_of(weights, inputs, module, false); };

  std::vector<double> direction(size), kept(size);
  for (std::uint64_t d = 0; d < 8; ++d) {
    RandomSource random({d, Stream::test, 0});
    for (double& x : direction) x = random.normal();
    const double length = std::sqrt(std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0));
    for (double& x : direction) x /= length;
    double analytic = 0;
    std::size_t at = 0;
    for (const Numbers& numbers : all)
      for (std::size_t i = 0; i < numbers.values.size(); ++i, ++at) {
        kept[at] = static_cast<double>(numbers.values[i]);
        analytic += direction[at] * static_cast<double>(numbers.gradient[i]);
      }
    const auto move = [&](double offset) {
      std::size_t to = 0;
      for (const Numbers& numbers : all)
        for (Real& x : numbers.values) {
          x = static_cast<Real>(kept[to] + offset * direction[to]);
          ++to;
        }
    };
    look(
        analytic,
        [&](double offset) {
          move(offset);
          return value();
        },
        [&] { return fmt::format("direction {}", d); });
    move(0);
  }
  if (!(worst <= tolerance))
    for (const Numbers& numbers : all)
      for (std::size_t i = 0; i < numbers.values.size(); ++i) {
        Real& x = numbers.values[i];
        const Real before = x;
        look(
            static_cast<double>(numbers.gradient[i]),
            [&](double offset) {
              x = static_cast<Real>(static_cast<double>(before) + offset);
              return value();
            },
            [&] { return fmt::format("[{}] element {}", numbers.name, i); });
        x = before;
      }
  INFO(where);
  CHECK(worst <= tolerance);
}

} // namespace heed::HEED_REAL
