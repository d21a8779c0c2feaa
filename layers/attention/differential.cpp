#include "layers/attention/differential.hpp"

#include <cmath>

namespace heed::HEED_REAL {

DifferentialMaps::DifferentialMaps(const Scope& scope, const std::string& version, const Shape& shape)
    : start_(0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(shape.layer))) {
  if (version == "v2") {
    by_token_.emplace(scope / "lambda", shape.width, shape.heads, false);
    return;
  }
  const Init start = Init::normal(0.1);
  queries_ = scope.plain("lambda_query", {2, shape.query_width}, start);
  keys_ = scope.plain("lambda_key", {2, shape.query_width}, start);
  norm_ = make_norm(scope / "norm", "rms", {shape.value_width, false});
}

Tensor DifferentialMaps::lambda(Pass& pass, const Tensor& x) const {
  if (by_token_) return unsqueeze(transpose(sigmoid((*by_token_)(pass, x))), 3);
  const Tensor products = exp(sum(mul(pass(*queries_), pass(*keys_)), -1, true)); // [2, 1]
  const Tensor difference = sub(slice(products, 0, 0, 1), slice(products, 0, 1, 1));
  return reshape(scale(difference, 1, static_cast<Real>(start_)), {1, 1, 1, 1});
}

Tensor DifferentialMaps::normalised(Pass& pass, const Tensor& y) const {
  return norm_ ? scale((*norm_)(pass, y), static_cast<Real>(1 - start_)) : y;
}

} // namespace heed::HEED_REAL
