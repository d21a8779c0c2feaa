// Heads that hear of each other: maps between heads, before the normaliser and after it.
#pragma once

#include "layers/module.hpp"

#include <optional>
#include <string>

namespace heed::HEED_REAL {

/// Talking heads (Shazeer et al. 2020, arXiv 2003.02436): with learned matrices P and Q, [heads, heads], scores and
/// weights of all heads at a place (i, j) are mixed,
///   s'_h = sum_g P_hg s_g,  w'_h = sum_g Q_hg w_g,
/// where s is what position and score give, before formula and mask, and w is what the normaliser makes. P and Q start
/// as the identity, where nothing is mixed. Named `scores` and `weights`.
class TalkingHeads {
public:
  /// `word`: as [attention] talking_heads has it.
  TalkingHeads(const Scope& scope, const std::string& word, std::int64_t heads);

  /// [B, heads, Tq, Tk] to the same; what has no matrix stays as it is.
  Tensor scores(Pass& pass, const Tensor& s) const { return mixed(pass, s, of_scores_); }
  Tensor weights(Pass& pass, const Tensor& w) const { return mixed(pass, w, of_weights_); }

private:
  static Tensor mixed(Pass& pass, const Tensor& x, const std::optional<ParameterId>& matrix);

  std::optional<ParameterId> of_scores_, of_weights_;
};

} // namespace heed::HEED_REAL
