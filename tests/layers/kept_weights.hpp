// An onlooker that keeps attention weights.
#pragma once

#include "layers/module.hpp"

#include <vector>

namespace heed::HEED_REAL {

/// Weights of all attentions of a pass, in the order of their calls: [B, H, Tq, Tk] each. They are the tape's.
struct KeptWeights : Observer {
  bool wants_weights() const override { return true; }
  void weights(const AttentionPlace&, const Tensor& w) override { kept.push_back(w); }

  std::vector<Tensor> kept;
};

} // namespace heed::HEED_REAL
