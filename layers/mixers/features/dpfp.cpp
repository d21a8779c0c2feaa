#include "autograd/ops.hpp"
#include "layers/mixers/feature.hpp"

#include <algorithm>
#include <vector>

namespace heed::HEED_REAL {

namespace {

constexpr std::int64_t shifts = 4; // nu of the paper

// With r = relu([x, -x]): r times r moved by 1, ..., 4 places, round the end.
Tensor products(const Tensor& x) {
  const Tensor r = relu(concat({x, scale(x, -1)}, 3));
  const std::int64_t width = r.shape[3];
  std::vector<Tensor> parts;
  for (std::int64_t n = 1; n <= shifts; ++n) {
    const std::int64_t by = n % width;
    const Tensor moved = by == 0 ? r : concat({slice(r, 3, width - by, by), slice(r, 3, 0, width - by)}, 3);
    parts.push_back(mul(r, moved));
  }
  return concat(parts, 3);
}

std::vector<double> row(const std::vector<double>& x, std::int64_t, const std::vector<const Real*>&) {
  std::vector<double> r, y;
  for (const double sign : {1.0, -1.0})
    for (const double value : x) r.push_back(std::max(sign * value, 0.0));
  for (std::size_t n = 1; n <= static_cast<std::size_t>(shifts); ++n)
    for (std::size_t i = 0; i < r.size(); ++i) y.push_back(r[i] * r[(i + r.size() - n % r.size()) % r.size()]);
  return y;
}

} // namespace

extern const FeatureInfo feature_dpfp{
    .about = {.name = "dpfp",
              .summary = "r_i r_(i - n) for n = 1, ..., 4, with r = relu([x, -x]) and places counted round the end "
                         "(deterministic parameter-free projection)",
              .paper = "Schlag et al. 2021, arXiv 2102.11174",
              .cost = "8 d features for d"},
    .output_width = [](std::int64_t width) { return 2 * shifts * width; },
    .make = PlainFeature<products>::make,
    .row = row};

} // namespace heed::HEED_REAL
