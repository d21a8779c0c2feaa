#include "layers/norm.hpp"

#include <cmath>

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

class RmsNorm final : public Norm {
public:
  RmsNorm(const Scope& scope, const NormSizes& sizes, const Options& options)
      : eps_(static_cast<Real>(options.eps)), gain_(scope.no_decay("weight", {sizes.width}, Init::constant(1))) {}
  Tensor operator()(Pass& pass, const Tensor& x) const override {
    return pass.show(gain_, rms_norm(x, pass(gain_), eps_));
  }

private:
  Real eps_;
  ParameterId gain_;
};

void row(const Real* x, Real* y, const NormSizes& sizes, const std::vector<const Real*>& parameters,
         const OptionValues& options) {
  const double eps = table().read(options).eps;
  double squares = 0;
  for (std::int64_t d = 0; d < sizes.width; ++d)
    squares += std::pow(static_cast<double>(x[d]), 2) / static_cast<double>(sizes.width);
  for (std::int64_t d = 0; d < sizes.width; ++d)
    y[d] = static_cast<Real>(static_cast<double>(x[d]) / std::sqrt(squares + eps)) * parameters[0][d];
}

} // namespace

extern const NormInfo norm_rms{
    .about = {.name = "rms",
              .summary = "x / sqrt(mean of x^2 + eps) gain, over the features of a position (RMSNorm)",
              .paper = "Zhang and Sennrich 2019, arXiv 1910.07467",
              .cost = "a gain for each feature; one pass over each vector",
              .options = table().options(),
              .disables = {"block.norm_bias"}},
    .make = [](const Scope& scope, const NormSizes& sizes, const OptionValues& options) -> std::unique_ptr<Norm> {
      return std::make_unique<RmsNorm>(scope, sizes, table().read(options));
    },
    .row = row};

} // namespace heed::HEED_REAL
