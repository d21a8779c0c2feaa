#include "layers/norm.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

constexpr Real least_length = Real(1e-5); // as in the authors' code

class ScaleNorm final : public Norm {
public:
  ScaleNorm(const Scope& scope, const NormSizes& sizes)
      : gain_(scope.no_decay("weight", {1}, Init::constant(std::sqrt(static_cast<double>(sizes.width))))) {}
  Tensor operator()(Pass& pass, const Tensor& x) const override {
    return pass.show(gain_, mul(l2_normalize(x, least_length), pass(gain_)));
  }

private:
  ParameterId gain_;
};

void row(const Real* x, Real* y, const NormSizes& sizes, const std::vector<const Real*>& parameters,
         const OptionValues&) {
  double squares = 0;
  for (std::int64_t d = 0; d < sizes.width; ++d) squares += std::pow(static_cast<double>(x[d]), 2);
  const double length = std::max(std::sqrt(squares), static_cast<double>(least_length));
  for (std::int64_t d = 0; d < sizes.width; ++d)
    y[d] = static_cast<Real>(static_cast<double>(parameters[0][0]) * static_cast<double>(x[d]) / length);
}

} // namespace

extern const NormInfo norm_scale{
    .about = {.name = "scale",
              .summary = "g x / max(|x|, 1e-5), with one learned length g that starts at sqrt(width) (ScaleNorm)",
              .paper = "Nguyen and Salazar 2019, arXiv 1910.05895",
              .equals = "rms with one gain for all features, apart from the small number in its root",
              .cost = "one parameter; two passes over each vector",
              .disables = {"block.norm_bias"}},
    .make = [](const Scope& scope, const NormSizes& sizes, const OptionValues&) -> std::unique_ptr<Norm> {
      return std::make_unique<ScaleNorm>(scope, sizes);
    },
    .row = row};

} // namespace heed::HEED_REAL
