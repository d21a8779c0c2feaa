// Attention of a recurrent decoder over its encoder's states, global or local (only some source positions per step).
#pragma once

#include "layers/attention/attention.hpp"

#include <optional>

namespace heed::HEED_REAL {

/// c_t = sum_s w_ts m_s over the encoder's states m, with w_t = normaliser(s(h_t, m_1), s(h_t, m_2), ...) for any score
/// and normaliser. `reach` determines the source positions that step t sees (Luong, Pham and Manning 2015, arXiv
/// 1508.04025, section 3.2):
///   global:  all source positions
///   local_m: positions t - D .. t + D
///   local_p: positions within D of p_t = S sigmoid(v . tanh(W h_t)), where S is the source's length; the weights are
///            multiplied with exp(-(s - p_t)^2 / (2 (D / 2)^2))
/// Positions count from 0. A step that sees no source position gets zeros.
class SourceAttention {
public:
  struct Sizes {
    std::int64_t query_width = 0, memory_width = 0;
    std::int64_t longest = 0; ///< upper bound on the source length; 0: unknown
  };

  /// The score's parameters are named `score`; those of local_p's prediction are `place.hidden` (W) and `place.height`
  /// (v).
  SourceAttention(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options, const Sizes& shape);

  struct Source {
    AttentionMemory memory;
    const std::int32_t* lengths; ///< [B]
  };
  /// states [B, S, memory_width]; positions at and beyond a row's length are padding. The lengths are not copied.
  Source read(Pass& pass, const Tensor& states, const std::int32_t* lengths) const;

  /// queries [B, T, query_width] of the steps first, first + 1, ...; the result is [B, T, memory_width].
  Tensor operator()(Pass& pass, const Tensor& queries, const Source& source, std::int64_t first) const;

private:
  Tensor around_predicted_places(Pass& pass, const Tensor& queries, const Source& source) const;

  Attention attend_;
  std::int64_t window_ = -1; // for local reach; -1: global
  std::optional<Linear> place_hidden_, place_height_;
};

} // namespace heed::HEED_REAL
