#include "experiments/training/optimizers.hpp"

#include "autograd/error.hpp"
#include "experiments/training/run_model.hpp"

#include <fmt/format.h>

namespace heed::HEED_REAL {

std::unique_ptr<Optimizer> make_optimizer(const Config& config, const Parameters& parameters) {
  for (const OptimizerInfo* info : optimizers())
    if (info->about.name == config.train.optimizer) return info->make(config.optimizer_options, parameters);
  throw Failed(fmt::format("[train] there is no optimizer '{}'", config.train.optimizer));
}

void store_state(Optimizer& optimizer, const Parameters& parameters, Checkpoint& to) {
  for (const Optimizer::StateArray& array : optimizer.state(parameters))
    to.tensors.push_back(stored("optimizer." + array.name, array.shape, array.numbers.data()));
}

void load_state(Optimizer& optimizer, const Parameters& parameters, const Checkpoint& from) {
  for (const Optimizer::StateArray& array : optimizer.state(parameters))
    read_stored(from, "optimizer." + array.name, array.shape, array.numbers.data());
}

} // namespace heed::HEED_REAL
