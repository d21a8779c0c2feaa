#include "layers/attention/heads.hpp"
#include "layers/attention/projection.hpp"
#include "layers/linear.hpp"
#include "layers/mixers/decay.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

// The starts of Mamba-2's code: A ~ U(1, 16), and a step of exp(U(log 1e-3, log 1e-1)), at least 1e-4, where W x is 0.
double start_of_log_rate(double uniform) { return std::log(1 + 15 * uniform); }
double start_of_step_bias(double uniform) {
  constexpr double shortest = 1e-3, longest = 1e-1, least = 1e-4;
  const double step = std::max(std::exp(std::log(shortest) + uniform * std::log(longest / shortest)), least);
  return step + std::log(-std::expm1(-step)); // the inverse of softplus
}

class Softplus final : public Decay {
public:
  Softplus(const Scope& scope, const DecaySizes& sizes)
      : map_(scope / "step", sizes.model_width, sizes.heads, false),
        bias_(scope.no_decay("step_bias", {sizes.heads}, Init::of_uniform(start_of_step_bias))),
        log_rate_(scope.no_decay("log_rate", {sizes.heads}, Init::of_uniform(start_of_log_rate))) {}
  Decayed operator()(Pass& pass, const Tensor& x) const override {
    const Tensor step = scale(log_sigmoid(scale(add(map_(pass, x), pass(bias_)), -1)), -1); // softplus
    return {.log_decay = column_of_heads(mul(step, scale(exp(pass(log_rate_)), -1))), .step = column_of_heads(step)};
  }

private:
  Linear map_;
  ParameterId bias_, log_rate_;
};

DecayRow row(const Real* x, const DecaySizes& sizes, const std::vector<const Real*>& parameters, const OptionValues&) {
  const std::vector<Real> mapped = affine_row(x, sizes.model_width, sizes.heads, parameters[0], nullptr);
  DecayRow out;
  for (std::size_t h = 0; h < mapped.size(); ++h) {
    const double step = std::log1p(std::exp(static_cast<double>(mapped[h] + parameters[1][h])));
    out.step.push_back(step);
    for (std::int64_t d = 0; d < sizes.width; ++d)
      out.log_decay.push_back(-std::exp(static_cast<double>(parameters[2][h])) * step);
  }
  return out;
}

} // namespace

extern const DecayInfo decay_softplus{
    .about = {.name = "softplus",
              .summary = "exp(-A s) with the step s = softplus(W x + b) of each token and head, and a learned A > 0 of "
                         "each head",
              .paper = "Dao and Gu 2024, arXiv 2405.21060 (Mamba-2)",
              .cost = "(d + 2) parameters for each head; two exponentials and a logarithm for each token and head"},
    .make = [](const Scope& scope, const DecaySizes& sizes, const OptionValues&) -> std::unique_ptr<Decay> {
      return std::make_unique<Softplus>(scope, sizes);
    },
    .row = row,
    .has_step = true};

} // namespace heed::HEED_REAL
