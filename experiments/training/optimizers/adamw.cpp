#include "experiments/training/optimizers/adam_table.hpp"

namespace heed::HEED_REAL {

extern const OptimizerInfo optimizer_adamw{
    .about = {.name = "adamw",
              .summary = "adaptive moments, with weight decay decoupled from the gradient",
              .paper = "Loshchilov and Hutter 2019, arXiv 1711.05101",
              .equals = "adam with weight_decay = 0",
              .cost = "memory: two values for each parameter",
              .options = adam_table().options()},
    .make = [](const OptionValues& options, const Parameters& parameters) {
      return make_adam(options, false, parameters);
    }};

} // namespace heed::HEED_REAL
