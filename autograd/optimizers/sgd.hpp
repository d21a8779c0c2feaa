// Stochastic gradient descent.
#pragma once

#include "autograd/optimizer.hpp"

namespace heed::HEED_REAL {

struct SgdOptions {
  double momentum = 0.0, weight_decay = 0.0;
  bool nesterov = false; ///< w <- w - rate (g + momentum m)
};

/// g <- g + decay w; m <- momentum m + g; w <- w - rate m (PyTorch's form). Its state is "sgd.momentum", or nothing
/// where there is no momentum.
class Sgd : public Optimizer {
public:
  Sgd(const SgdOptions& options, const Parameters& parameters);

  std::vector<StateArray> state(const Parameters& parameters) override;

private:
  void update_one(const Update& update) override;

  SgdOptions options_;
  PagedVector<Real> momentum_; // empty without
};

} // namespace heed::HEED_REAL
