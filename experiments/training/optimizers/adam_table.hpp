// The options of the optimizers adam and adamw, and the function that makes both.
#pragma once

#include "autograd/optimizers/adam.hpp"
#include "experiments/training/optimizers.hpp"

namespace heed::HEED_REAL {

/// The options in [train.adamw] and [train.adam]; see AdamOptions.
struct AdamTable {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.0;
};

inline const OptionTable<AdamTable>& adam_table() {
  using O = AdamTable;
  static const auto t = option_table<O>(
      option("beta1", &O::beta1, "exponential decay rate of the running mean of gradients").at_least(0).below(1),
      option("beta2", &O::beta2, "exponential decay rate of the running mean of squared gradients")
          .at_least(0)
          .below(1),
      option("epsilon", &O::epsilon, "added to the square root in the denominator").above(0),
      option("weight_decay", &O::weight_decay,
             "decay of matrices towards 0, also of embeddings, but not of vectors, scales and temperatures")
          .at_least(0));
  return t;
}

/// coupled: weight decay is added to the gradient (adam) instead of the step (adamw).
inline std::unique_ptr<Optimizer> make_adam(const OptionValues& options, bool coupled, const Parameters& parameters) {
  const AdamTable o = adam_table().read(options);
  return std::make_unique<Adam>(AdamOptions{o.beta1, o.beta2, o.epsilon, o.weight_decay, coupled}, parameters);
}

} // namespace heed::HEED_REAL
