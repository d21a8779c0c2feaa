// An observer that stores attention weights.
#pragma once

#include "layers/module.hpp"

#include <vector>

namespace heed::HEED_REAL {

/// The weights of all attentions of a pass, in the order of the calls: [B, H, Tq, Tk] each. The tape owns their memory.
struct KeptWeights : Observer {
  bool wants_weights() const override { return true; }
  void weights(const AttentionPlace&, const Tensor& w) override { kept.push_back(w); }

  std::vector<Tensor> kept;
};

} // namespace heed::HEED_REAL
