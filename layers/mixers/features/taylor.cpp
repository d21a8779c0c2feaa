#include "autograd/ops.hpp"
#include "layers/mixers/feature.hpp"

#include <cmath>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// The factor of feature 0; of x_i; of x_i^2; and of x_i x_j with i < j.
struct Factors {
  double first, square, product;
  explicit Factors(std::int64_t width)
      : first(std::pow(static_cast<double>(width), -0.25)), square(1 / std::sqrt(2 * static_cast<double>(width))),
        product(1 / std::sqrt(static_cast<double>(width))) {}
};

std::int64_t output_width(std::int64_t width) { return 1 + width + width * (width + 1) / 2; }

// [1, x_i, x_i x_j for i <= j] times their factors: with s = q . k / sqrt(d), the product of two is 1 + s + s^2 / 2.
Tensor expanded(const Tensor& x) {
  const std::int64_t width = x.shape[3];
  const Factors factors(width);
  Tape& tape = *x.tape;
  std::vector<Tensor> parts{scale(slice(x, 3, 0, 1), 0, 1), x};
  const Tensor by = tape.make({output_width(width)});
  Real* to = by.data;
  *to++ = 1;
  for (std::int64_t i = 0; i < width; ++i) *to++ = static_cast<Real>(factors.first);
  for (std::int64_t i = 0; i < width; ++i) {
    parts.push_back(mul(slice(x, 3, i, 1), slice(x, 3, i, width - i)));
    for (std::int64_t j = i; j < width; ++j) *to++ = static_cast<Real>(i == j ? factors.square : factors.product);
  }
  return mul(concat(parts, 3), by);
}

std::vector<double> row(const std::vector<double>& x, std::int64_t, const std::vector<const Real*>&) {
  const Factors factors(std::ssize(x));
  std::vector<double> y{1};
  for (const double value : x) y.push_back(value * factors.first);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = i; j < x.size(); ++j) y.push_back(x[i] * x[j] * (i == j ? factors.square : factors.product));
  return y;
}

} // namespace

extern const FeatureInfo feature_taylor{
    .about = {.name = "taylor",
              .summary = "[1, x_i / d^(1/4), x_i^2 / sqrt(2 d), x_i x_j / sqrt(d) for i < j]: the product of two such "
                         "vectors is 1 + s + s^2 / 2, Taylor's series of exp(s), with s = q . k / sqrt(d)",
              .paper = "Arora et al. 2024, arXiv 2402.18668 (Based)",
              .cost = "1 + d + d (d + 1) / 2 features for d: keep the width of keys small, such as 16"},
    .output_width = output_width,
    .make = PlainFeature<expanded>::make,
    .row = row};

} // namespace heed::HEED_REAL
