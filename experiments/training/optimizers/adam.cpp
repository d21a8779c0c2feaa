#include "experiments/training/optimizers/adam_table.hpp"

namespace heed::HEED_REAL {

extern const OptimizerInfo optimizer_adam{
    .about = {.name = "adam",
              .summary = "adaptive moments, with weight decay added to the gradient",
              .paper = "Kingma and Ba 2015, arXiv 1412.6980",
              .cost = "memory: two values for each parameter",
              .options = adam_table().options()},
    .make = [](const OptionValues& options, const Parameters& parameters) {
      return make_adam(options, true, parameters);
    }};

} // namespace heed::HEED_REAL
