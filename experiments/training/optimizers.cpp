#include "experiments/training/optimizers.hpp"

#include "autograd/error.hpp"
#include "experiments/training/optimizer_options.hpp"

#include <fmt/format.h>

namespace heed::HEED_REAL {

Optimizer make_optimizer(const Config& config, std::int64_t extent) {
  const OptimizerChoice choice = optimizer_choice(config);
  if (choice.sgd)
    return {SgdOptions{choice.sgd->momentum, choice.sgd->weight_decay, choice.sgd->nesterov}, extent};
  return {AdamOptions{choice.adam.beta1, choice.adam.beta2, choice.adam.epsilon, choice.adam.weight_decay,
                      choice.coupled},
          extent};
}

} // namespace heed::HEED_REAL
