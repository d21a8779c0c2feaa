// The optimizer SGD, with optional momentum, Nesterov momentum and weight decay.
#pragma once

#include "autograd/optimizer.hpp"

namespace heed::HEED_REAL {

struct SgdOptions {
  double momentum = 0.0, weight_decay = 0.0;
  bool nesterov = false; ///< w <- w - rate (g + momentum m)
};

/// g <- g + decay w; m <- momentum m + g; w <- w - rate m (PyTorch's form). The optimizer state is "sgd.momentum", or
/// empty if there is no momentum.
class Sgd : public Optimizer {
public:
  Sgd(const SgdOptions& options, const Parameters& parameters);

  std::vector<StateArray> state(const Parameters& parameters) override;

private:
  void update_one(const Update& update) override;

  SgdOptions options_;
  PagedVector<Real> momentum_; // empty without momentum
};

} // namespace heed::HEED_REAL
