#include "layers/norm.hpp"

#include <cmath>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double alpha = 0.5;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("alpha", &Options::alpha, "initial value of the learned factor alpha, one number for each norm")
          .above(0)
          .at_most(100)
          .initial_value());
  return t;
}

class DynamicTanh final : public Norm {
public:
  DynamicTanh(const Scope& scope, const NormSizes& sizes, double alpha)
      : gain_(scope.no_decay("weight", {sizes.width}, Init::constant(1))),
        alpha_(scope.no_decay("alpha", {1}, Init::constant(alpha))) {
    if (sizes.bias) bias_ = scope.no_decay("bias", {sizes.width}, Init::zeros());
  }
  Tensor operator()(Pass& pass, const Tensor& x) const override {
    const Tensor y = mul(tanh(mul(x, pass(alpha_))), pass(gain_));
    return pass.show(gain_, bias_ ? add(y, pass(*bias_)) : y);
  }

private:
  ParameterId gain_, alpha_;
  std::optional<ParameterId> bias_;
};

void row(const Real* x, Real* y, const NormSizes& sizes, const std::vector<const Real*>& parameters,
         const OptionValues&) {
  for (std::int64_t d = 0; d < sizes.width; ++d)
    y[d] = parameters[0][d] * std::tanh(parameters[1][0] * x[d]) + (sizes.bias ? parameters[2][d] : Real{0});
}

} // namespace

extern const NormInfo norm_dyt{
    .about = {.name = "dyt",
              .summary = "gain tanh(alpha x) + bias: no norm, but in its place (Dynamic Tanh)",
              .paper = "Zhu et al. 2025, arXiv 2503.10622",
              .cost = "a gain and a bias for each feature, and one alpha; four passes over each vector",
              .options = table().options()},
    .make = [](const Scope& scope, const NormSizes& sizes, const OptionValues& options) -> std::unique_ptr<Norm> {
      return std::make_unique<DynamicTanh>(scope, sizes, table().read(options).alpha);
    },
    .row = row};

} // namespace heed::HEED_REAL
