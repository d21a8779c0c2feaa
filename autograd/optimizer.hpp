// What all optimisers have in common, and the gradient's norm with the factor that clips it. Adam and SGD stand in
// optimizers/.
#pragma once

#include "autograd/parameters.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// Turns gradients into steps of the parameters that it was made for.
class Optimizer {
public:
  virtual ~Optimizer() = default;

  /// Step number `step` (the first is 1) with gradients multiplied by `factor` first (clipping). `begin` and `end`
  /// bound the parameters' entries to work on, so that threads can share the work: call for disjoint ranges. Throws
  /// heed::Failed for parameters of another layout.
  void update(Parameters& parameters, const Real* gradients, double learning_rate, double factor, std::int64_t step,
              std::size_t begin, std::size_t end);
  void update(Parameters& parameters, const Real* gradients, double learning_rate, double factor, std::int64_t step);

  /// An array of the state, for checkpoints. Its shape may be another than its parameter's.
  struct StateArray {
    std::string name; ///< "adam.m.blocks.0.ffn.expand.weight"
    Shape shape;
    std::span<Real> numbers;
  };
  /// All that it knows from one step to the next, but for the step's number. `parameters`: those it was made for.
  virtual std::vector<StateArray> state(const Parameters& parameters) = 0;

protected:
  explicit Optimizer(const Parameters& parameters) : extent_(parameters.extent()) {}

  /// One parameter in one step.
  struct Update {
    const Parameters::Entry& entry;
    std::size_t index;     ///< of the entry among the parameters'
    Real* values;          ///< [entry.shape]
    const Real* gradients; ///< likewise, not yet multiplied by `factor`
    double learning_rate, factor;
    std::int64_t step; ///< the first is 1
  };
  /// May change the parameter's own state and no other's, since several threads work at a time.
  virtual void update_one(const Update& update) = 0;

  /// Appends one array for each parameter, NAME.PARAMETER, of its shape: parts of `numbers`, which have the parameters'
  /// layout.
  static void append_like(const Parameters& parameters, const std::string& name, std::span<Real> numbers,
                          std::vector<StateArray>& to);

private:
  std::int64_t extent_; // of the parameters that it was made for
};

/// sqrt of the sum of squares, over fixed blocks of 8192 numbers, each block's squares summed in double: the same bits
/// whatever computes it.
double global_norm(const Real* gradients, std::int64_t extent);
/// What gradients are multiplied with so that their norm is at most `limit` (Pascanu et al. 2013, arXiv 1211.5063), as
/// PyTorch's clip_grad_norm_: min(1, limit / (norm + 1e-6)). limit 0: no clipping.
double clip_factor(double norm, double limit);

} // namespace heed::HEED_REAL
