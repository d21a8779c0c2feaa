// The forget gate of attention.
#pragma once

#include "layers/linear.hpp"

namespace heed::HEED_REAL {

/// The forget gates of the Forgetting Transformer (Lin et al. 2025, arXiv 2503.02130). Each token has one gate for each
/// head: f = sigmoid(w_h . x + b_h). The score of query i and an earlier key j becomes
///   s_ij + sum over l = j + 1, ..., i of log f_l
/// so a token whose gate is near 0 hides all keys before it. b starts at 0. Positions are not needed, but may be used.
class ForgetGate {
public:
  ForgetGate(const Scope& scope, std::int64_t width, std::int64_t heads) : gate_(scope, width, heads, Init::zeros()) {}

  /// log f, [B, heads, T, 1], for tokens x [B, T, width].
  Tensor operator()(Pass& pass, const Tensor& x) const { return unsqueeze(transpose(log_sigmoid(gate_(pass, x))), 3); }

private:
  Linear gate_;
};

} // namespace heed::HEED_REAL
