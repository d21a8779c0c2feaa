// The embedding layer: one learned vector for each token.
#pragma once

#include "layers/module.hpp"

namespace heed::HEED_REAL {

/// Returns row t of the table `weight`, [vocabulary, width], for token t.
struct Embedding {
  ParameterId weight;

  Embedding(const Scope& scope, std::int64_t vocabulary, std::int64_t width)
      : weight(scope.embedding("weight", {vocabulary, width})) {}

  /// `tokens` has the shape `shape`; the result is [shape..., width].
  Tensor operator()(Pass& pass, const std::int32_t* tokens, const Shape& shape) const {
    return pass.show(weight, embedding(pass(weight), tokens, shape));
  }
};

} // namespace heed::HEED_REAL
