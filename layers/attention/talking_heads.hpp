// Talking heads: learned linear maps between heads, before and after the normaliser.
#pragma once

#include "layers/module.hpp"

#include <optional>
#include <string>

namespace heed::HEED_REAL {

/// Talking heads (Shazeer et al. 2020, arXiv 2003.02436). Learned matrices P and Q, [heads, heads], mix the scores and
/// the weights of all heads at each pair (i, j):
///   s'_h = sum_g P_hg s_g,  w'_h = sum_g Q_hg w_g,
/// s are the scores with the position's bias, before formula and mask; w are the normaliser's weights. P and Q start as
/// the identity, which mixes nothing. Their names are `scores` and `weights`.
class TalkingHeads {
public:
  /// `word`: the value of [attention] talking_heads.
  TalkingHeads(const Scope& scope, const std::string& word, std::int64_t heads);

  /// [B, heads, Tq, Tk] to the same shape. Without a matrix, the input is returned unchanged.
  Tensor scores(Pass& pass, const Tensor& s) const { return mixed(pass, s, of_scores_); }
  Tensor weights(Pass& pass, const Tensor& w) const { return mixed(pass, w, of_weights_); }

private:
  static Tensor mixed(Pass& pass, const Tensor& x, const std::optional<ParameterId>& matrix);

  std::optional<ParameterId> of_scores_, of_weights_;
};

} // namespace heed::HEED_REAL
