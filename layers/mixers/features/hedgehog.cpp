#include "autograd/ops.hpp"
#include "layers/mixers/feature.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// Each head's map starts as the identity.
Init identities(const FeatureSizes& sizes) {
  std::vector<double> numbers;
  for (std::int64_t h = 0; h < sizes.heads; ++h)
    for (std::int64_t i = 0; i < sizes.width; ++i)
      for (std::int64_t j = 0; j < sizes.width; ++j) numbers.push_back(i == j ? 1 : 0);
  return Init::listed(std::move(numbers));
}

class Hedgehog final : public Feature {
public:
  Hedgehog(const Scope& scope, const FeatureSizes& sizes)
      : map_(scope.weight("weight", {sizes.heads, sizes.width, sizes.width}, identities(sizes))) {}
  Tensor operator()(Pass& pass, const Tensor& x) const override {
    const Tensor mapped = scale(matmul(x, transpose(pass(map_))), 2);
    return softmax(concat({mapped, scale(mapped, -1)}, 3));
  }

private:
  ParameterId map_;
};

std::vector<double> row(const std::vector<double>& x, std::int64_t head, const std::vector<const Real*>& parameters) {
  const std::size_t width = x.size();
  std::vector<double> y(2 * width);
  double sum = 0;
  for (std::size_t i = 0; i < width; ++i) {
    double mapped = 0;
    for (std::size_t j = 0; j < width; ++j)
      mapped += static_cast<double>(parameters[0][(static_cast<std::size_t>(head) * width + i) * width + j]) * x[j];
    y[i] = std::exp(2 * mapped);
    y[width + i] = std::exp(-2 * mapped);
    sum += y[i] + y[width + i];
  }
  for (double& value : y) value /= sum;
  return y;
}

} // namespace

extern const FeatureInfo feature_hedgehog{
    .about = {.name = "hedgehog",
              .summary =
                  "softmax([2 W x, -2 W x]) with a learned matrix W for each head, which starts as the identity (with "
                  "the factor 2 of flash-linear-attention's code)",
              .paper = "Zhang et al. 2024, arXiv 2402.04347",
              .cost = "d^2 parameters for each head of the queries and of the keys; 2 d features for d"},
    .output_width = [](std::int64_t width) { return 2 * width; },
    .make = [](const Scope& scope, const FeatureSizes& sizes) -> std::unique_ptr<Feature> {
      return std::make_unique<Hedgehog>(scope, sizes);
    },
    .row = row};

} // namespace heed::HEED_REAL
