// Vectors for tokens.
#pragma once

#include "layers/module.hpp"

namespace heed::HEED_REAL {

/// Row t of a table (named `weight`, [vocabulary, width]) for token t.
struct Embedding {
  ParameterId weight;

  Embedding(const Scope& scope, std::int64_t vocabulary, std::int64_t width)
      : weight(scope.embedding("weight", {vocabulary, width})) {}

  /// tokens: `shape` of them; the result is [shape..., width].
  Tensor operator()(Pass& pass, const std::int32_t* tokens, const Shape& shape) const {
    return pass.show(weight, embedding(pass(weight), tokens, shape));
  }
};

} // namespace heed::HEED_REAL
