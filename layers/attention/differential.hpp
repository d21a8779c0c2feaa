// Differential attention: each head's weights are the difference of two maps.
#pragma once

#include "layers/linear.hpp"
#include "layers/norm.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace heed::HEED_REAL {

/// Differential attention computes two maps of weights for each head, A_1 and A_2, from queries and keys of their own.
/// The head's result is (A_1 - lambda A_2) V, so that what both maps attend to is cancelled. There are two versions.
///
/// v1 (Ye et al. 2024, arXiv 2410.05258): lambda = exp(q_1 . k_1) - exp(q_2 . k_2) + start, with learned vectors
/// (`lambda_query`, `lambda_key`: [2, query width]) that start at N(0, 0.1^2) and that all heads share. For layers 0,
/// 1, ..., start = 0.8 - 0.6 exp(-0.3 layer). An RMS norm (`norm`), whose gain all heads share, and the factor 1 -
/// start follow. By default, queries and keys are half as wide as values, so that the number of weights is that of
/// attention with one map. With fewer heads of keys than of queries (`key_value_heads`), the two maps of a head still
/// have different keys: map m of head h uses head 2 (h / heads per group) + m of the keys, as in the authors' code.
///
/// v2 (Ye et al. 2026): lambda = sigmoid(W x) for each token and head (`lambda`), without a norm. There are twice as
/// many queries as in attention with one map; the two maps of a head share its keys.
class DifferentialMaps {
public:
  struct Shape {
    std::int64_t width = 0, heads = 1, query_width = 0, value_width = 0;
    std::int64_t layer = 0; ///< the index of the block
  };

  /// `version`: v1 or v2.
  DifferentialMaps(const Scope& scope, const std::string& version, const Shape& shape);

  /// lambda for the queries of tokens x [B, T, width]: [1, 1, 1, 1], or [B, heads, T, 1].
  Tensor lambda(Pass& pass, const Tensor& x) const;
  /// What follows the difference: y [B, heads, T, value width] to the same shape.
  Tensor normalised(Pass& pass, const Tensor& y) const;

private:
  double start_;
  std::optional<ParameterId> queries_, keys_; // v1
  std::unique_ptr<Norm> norm_;                // v1
  std::optional<Linear> by_token_;            // v2
};

} // namespace heed::HEED_REAL
