#include "autograd/ops.hpp"
#include "layers/mixers/feature.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

std::vector<double> shares(const std::vector<double>& x, std::int64_t, const std::vector<const Real*>&) {
  double sum = 0;
  for (const double value : x) sum += std::exp(value);
  std::vector<double> y;
  for (const double value : x) y.push_back(std::exp(value) / sum);
  return y;
}

} // namespace

extern const FeatureInfo feature_softmax{
    .about = {.name = "softmax",
              .summary = "exp(x_i) / (sum of exp(x_j)), over the features of a head",
              .paper = "Shen et al. 2018, arXiv 1812.01243, for the queries",
              .cost = "an exponential for each number"},
    .output_width = [](std::int64_t width) { return width; },
    .make = PlainFeature<softmax>::make,
    .row = shares};

} // namespace heed::HEED_REAL
