#include "layers/norm.hpp"

#include <cmath>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double eps = 1e-5;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("eps", &Options::eps, "the small number that is added under the root").above(0).at_most(1));
  return t;
}

class LayerNorm final : public Norm {
public:
  LayerNorm(const Scope& scope, const NormSizes& sizes, const Options& options)
      : eps_(static_cast<Real>(options.eps)), gain_(scope.no_decay("weight", {sizes.width}, Init::constant(1))) {
    if (sizes.bias) bias_ = scope.no_decay("bias", {sizes.width}, Init::zeros());
  }
  Tensor operator()(Pass& pass, const Tensor& x) const override {
    if (!bias_) return pass.show(gain_, layer_norm(x, pass(gain_), nullptr, eps_));
    const Tensor b = pass(*bias_);
    return pass.show(gain_, layer_norm(x, pass(gain_), &b, eps_));
  }

private:
  Real eps_;
  ParameterId gain_;
  std::optional<ParameterId> bias_;
};

void row(const Real* x, Real* y, const NormSizes& sizes, const std::vector<const Real*>& parameters,
         const OptionValues& options) {
  const double eps = table().read(options).eps;
  const auto n = static_cast<double>(sizes.width);
  double mean = 0, squares = 0;
  for (std::int64_t d = 0; d < sizes.width; ++d) mean += static_cast<double>(x[d]) / n;
  for (std::int64_t d = 0; d < sizes.width; ++d) squares += std::pow(static_cast<double>(x[d]) - mean, 2) / n;
  for (std::int64_t d = 0; d < sizes.width; ++d)
    y[d] = static_cast<Real>((static_cast<double>(x[d]) - mean) / std::sqrt(squares + eps)) * parameters[0][d] +
           (sizes.bias ? parameters[1][d] : Real{0});
}

} // namespace

extern const NormInfo norm_layer{
    .about = {.name = "layer",
              .summary = "(x - mean) / sqrt(variance + eps) gain + bias, over the features of a position",
              .paper = "Ba, Kiros and Hinton 2016, arXiv 1607.06450",
              .equals = "rms for vectors with a mean of 0 and without a bias",
              .cost = "a gain and a bias for each feature; two passes over each vector",
              .options = table().options()},
    .make = [](const Scope& scope, const NormSizes& sizes, const OptionValues& options) -> std::unique_ptr<Norm> {
      return std::make_unique<LayerNorm>(scope, sizes, table().read(options));
    },
    .row = row};

} // namespace heed::HEED_REAL
