#include "experiments/engines/engine_module.hpp"
#include "experiments/engines/engine_table.hpp"

namespace heed {

const Engine& float64_engine() { return f64::engine_table(); }

} // namespace heed
