#include "experiments/training/optimizers.hpp"

#include "experiments/training/run_model.hpp"

namespace heed::HEED_REAL {

std::unique_ptr<Optimizer> make_optimizer(const Config& config, const Parameters& parameters) {
  const OptimizerInfo& info = variant_named(optimizers(), config.train.optimizer, "[train] there is no optimizer");
  return info.make(config.optimizer_options, parameters);
}

void store_state(Optimizer& optimizer, const Parameters& parameters, Checkpoint& to) {
  for (const Optimizer::StateArray& array : optimizer.state(parameters))
    to.tensors.push_back(stored(std::string(optimizer_prefix) + array.name, array.shape, array.numbers.data()));
}

void load_state(Optimizer& optimizer, const Parameters& parameters, const Checkpoint& from) {
  for (const Optimizer::StateArray& array : optimizer.state(parameters))
    read_stored(from, std::string(optimizer_prefix) + array.name, array.shape, array.numbers.data());
}

} // namespace heed::HEED_REAL
