// The base class of all optimisers, the gradient's norm, and the factor that clips gradients. Adam and SGD are in
// optimizers/.
#pragma once

#include "autograd/parameters.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// Updates parameters from their gradients. An optimiser belongs to the parameters that it was constructed with.
class Optimizer {
public:
  virtual ~Optimizer() = default;

  /// Step number `step` (the first is 1), with the gradients multiplied by `factor` (clipping). The call updates the
  /// parameters with entries in [begin, end). Threads can share the work by calling it for disjoint ranges. Throws
  /// heed::Failed for parameters of another layout.
  void update(Parameters& parameters, const Real* gradients, double learning_rate, double factor, std::int64_t step,
              std::size_t begin, std::size_t end);
  void update(Parameters& parameters, const Real* gradients, double learning_rate, double factor, std::int64_t step);

  /// An array of the state, for checkpoints. Its shape may differ from its parameter's shape.
  struct StateArray {
    std::string name; ///< "adam.m.blocks.0.ffn.expand.weight"
    Shape shape;
    std::span<Real> numbers;
  };
  /// The whole state that carries over from one step to the next, except the step number. `parameters` must be the
  /// parameters that the optimiser was constructed with.
  virtual std::vector<StateArray> state(const Parameters& parameters) = 0;

protected:
  explicit Optimizer(const Parameters& parameters) : extent_(parameters.extent()) {}

  /// The update of one parameter in one step.
  struct Update {
    const Parameters::Entry& entry;
    std::size_t index;     ///< of the entry, in Parameters::entries()
    Real* values;          ///< [entry.shape]
    const Real* gradients; ///< [entry.shape], not yet multiplied by `factor`
    double learning_rate, factor;
    std::int64_t step; ///< the first is 1
  };
  /// May change only the state of this parameter, because several threads work at the same time.
  virtual void update_one(const Update& update) = 0;

  /// Appends one array for each parameter, named NAME.PARAMETER, with its shape. The arrays are parts of `numbers`,
  /// which has the parameters' layout.
  static void append_like(const Parameters& parameters, const std::string& name, std::span<Real> numbers,
                          std::vector<StateArray>& to);

private:
  std::int64_t extent_; // of the parameters that the optimiser was constructed with
};

/// sqrt of the sum of squares. It sums over fixed blocks of 8192 values, each in double, so the result has the same
/// bits on any number of threads or processes.
double global_norm(const Real* gradients, std::int64_t extent);
/// The factor for gradients that limits their norm to `limit` (Pascanu et al. 2013, arXiv 1211.5063), as in PyTorch's
/// clip_grad_norm_: min(1, limit / (norm + 1e-6)). limit 0: no clipping.
double clip_factor(double norm, double limit);

} // namespace heed::HEED_REAL
