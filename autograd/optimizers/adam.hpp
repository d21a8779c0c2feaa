// The optimizers Adam and AdamW.
#pragma once

#include "autograd/optimizer.hpp"

namespace heed::HEED_REAL {

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.01;
  bool coupled = false;
};

/// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101), with PyTorch's order of operations:
///   w <- w (1 - rate decay); m <- beta1 m + (1 - beta1) g; v <- beta2 v + (1 - beta2) g^2;
///   w <- w - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
/// Weight decay applies only to parameters with Parameters::Entry::decay. With `coupled`, this is Adam (Kingma and Ba
/// 2015, arXiv 1412.6980): the decay is added to the gradient, g <- g + decay w. The optimizer state is "adam.m" and
/// "adam.v".
class Adam : public Optimizer {
public:
  Adam(const AdamOptions& options, const Parameters& parameters);

  std::vector<StateArray> state(const Parameters& parameters) override;

private:
  void update_one(const Update& update) override;

  AdamOptions options_;
  PagedVector<Real> m_, v_;
};

} // namespace heed::HEED_REAL
