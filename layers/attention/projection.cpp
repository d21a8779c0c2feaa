#include "layers/attention/projection.hpp"

namespace heed::HEED_REAL {

const ProjectionInfo& projection_info(const std::string& name) {
  return variant_named(projections(), name, "[attention] there is no projection");
}

Projected Projection::of_self(Pass& pass, const Tensor& x, std::int64_t first) const {
  Projected out = keys_and_values(pass, x, first);
  out.q = queries(pass, x, first);
  return out;
}

std::vector<Real> affine_row(const Real* x, std::int64_t in, std::int64_t out, const Real* weight, const Real* bias) {
  std::vector<Real> y(static_cast<std::size_t>(out));
  for (std::int64_t o = 0; o < out; ++o) {
    double sum = bias ? static_cast<double>(bias[o]) : 0;
    for (std::int64_t i = 0; i < in; ++i) sum += static_cast<double>(weight[o * in + i]) * static_cast<double>(x[i]);
    y[static_cast<std::size_t>(o)] = static_cast<Real>(sum);
  }
  return y;
}

} // namespace heed::HEED_REAL
