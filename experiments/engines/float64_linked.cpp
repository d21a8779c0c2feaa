#include "experiments/engines/engine_table.hpp"
#include "experiments/engines/float64.hpp"

namespace heed {

const Engine& float64_engine() { return f64::engine_table(); }

} // namespace heed
