#include "experiments/engines/engine.hpp"

#include "experiments/config/config.hpp"
#include "experiments/engines/engine_module.hpp"
#include "experiments/engines/engine_table.hpp"
#include "experiments/engines/instruction_sets.hpp"

#include <fmt/format.h>

namespace heed {

const Engine& engine(const Config& config, const std::string& kernels) {
  if (kernels == own_instruction_set()) return config.float64() ? float64_engine() : f32::engine_table();
  require_cpu_for(kernels);
  return load_engine(fmt::format("{}_{}", config.general.precision, kernels),
                     fmt::format("engine.kernels = \"{}\"", kernels));
}

const Engine& engine(const Config& config) { return engine(config, instruction_set_of(config)); }

} // namespace heed
