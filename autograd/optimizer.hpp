// Optimisers and learning-rate schedules.
#pragma once

#include "autograd/parameters.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101), with PyTorch's order of operations:
///   w <- w (1 - rate decay); m <- beta1 m + (1 - beta1) g; v <- beta2 v + (1 - beta2) g^2;
///   w <- w - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
/// The decay acts on parameters that say so (Parameters::Entry::decay). With `coupled`, Adam (Kingma and Ba 2015, arXiv
/// 1412.6980), whose decay is added to the gradient: g <- g + decay w.
struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.01;
  bool coupled = false;
};

/// Stochastic gradient descent: g <- g + decay w; m <- momentum m + g; w <- w - rate m (PyTorch's form).
struct SgdOptions {
  double momentum = 0.0, weight_decay = 0.0;
  bool nesterov = false;  ///< w <- w - rate (g + momentum m)
};

/// Changes all parameters by one step. State arrays have the parameters' layout.
class Optimizer {
public:
  Optimizer(const AdamOptions& options, std::int64_t extent);
  Optimizer(const SgdOptions& options, std::int64_t extent);

  /// Step number `step` (the first is 1) with gradients multiplied by `factor` first (clipping). `begin` and `end`
  /// bound the parameters' entries to work on, so that threads can share the work: call for disjoint ranges.
  void update(Parameters& parameters, const Real* gradients, double learning_rate, double factor, std::int64_t step,
              std::size_t begin, std::size_t end);
  void update(Parameters& parameters, const Real* gradients, double learning_rate, double factor, std::int64_t step);

  /// Its arrays by name, for checkpoints: "adam.m", "adam.v"; "sgd.momentum".
  std::vector<std::pair<std::string, std::span<Real>>> state();

private:
  bool adam_;
  AdamOptions adam_options_;
  SgdOptions sgd_options_;
  PagedVector<Real> first_, second_;
};

/// sqrt of the sum of squares, over fixed blocks of 8192 numbers, each block's squares summed in double: the same bits
/// whatever computes it.
double global_norm(const Real* gradients, std::int64_t extent);
/// What gradients are multiplied with so that their norm is at most `limit` (Pascanu et al. 2013, arXiv 1211.5063), as
/// PyTorch's clip_grad_norm_: min(1, limit / (norm + 1e-6)). limit 0: no clipping.
double clip_factor(double norm, double limit);

} // namespace heed::HEED_REAL
