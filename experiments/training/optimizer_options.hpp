// [train.adamw], [train.adam] and [train.sgd].
#pragma once

#include "experiments/config/config.hpp"

#include <optional>

namespace heed {

/// [train.adamw] and [train.adam]; see AdamOptions.
struct AdamConfig {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.0;
};

/// [train.sgd]; see SgdOptions.
struct SgdConfig {
  double momentum = 0.0, weight_decay = 0.0;
  bool nesterov = false;
};

/// What [train] optimizer and its table say.
struct OptimizerChoice {
  AdamConfig adam;
  bool coupled = false;             ///< weight decay is added to the gradient (adam), not to the step (adamw)
  std::optional<SgdConfig> sgd;     ///< takes adam's place
};
/// Throws heed::Refused where the options do not go together.
OptimizerChoice optimizer_choice(const Config& config);

} // namespace heed
