// Attention of a recurrent decoder over the states of its encoder: which of them a step may see, and their weighted
// sum.
#pragma once

#include "layers/attention/attention.hpp"

#include <optional>

namespace heed::HEED_REAL {

/// c_t = sum_s w_ts m_s over the source's states m, with w_t = normaliser(s(h_t, m_1), s(h_t, m_2), ...) by any score
/// and normaliser. What step t sees is its `reach` (Luong, Pham and Manning 2015, arXiv 1508.04025, section 3.2):
///   global:  all of the source
///   local_m: positions t - D .. t + D
///   local_p: positions within D of p_t = S sigmoid(v . tanh(W h_t)), S the source's length, whose weights are
///            multiplied with exp(-(s - p_t)^2 / (2 (D / 2)^2))
/// Positions count from 0. A step whose reach lies beyond the source gets zeros.
class SourceAttention {
public:
  struct Shape {
    std::int64_t query_width = 0, memory_width = 0;
    std::int64_t longest = 0; ///< source; 0: not known
  };

  /// The score's parameters are named `score`, those of local_p's prediction `place.hidden` (W) and `place.height` (v).
  SourceAttention(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options, const Shape& shape);

  struct Source {
    AttentionMemory memory;
    const std::int32_t* lengths; ///< [B]
  };
  /// states [B, S, memory_width]; what lies at and beyond a row's length is padding. The lengths are not copied.
  Source read(Pass& pass, const Tensor& states, const std::int32_t* lengths) const;

  /// queries [B, T, query_width], of the steps first, first + 1, ...; the result is [B, T, memory_width].
  Tensor operator()(Pass& pass, const Tensor& queries, const Source& source, std::int64_t first) const;

private:
  Tensor around_predicted_places(Pass& pass, const Tensor& queries, const Source& source) const;

  Attention attend_;
  std::int64_t window_ = -1; // of local reaches
  std::optional<Linear> place_hidden_, place_height_;
};

} // namespace heed::HEED_REAL
