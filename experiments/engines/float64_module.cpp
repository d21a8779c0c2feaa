// The float64 engine for programs that load it from a shared library.
#include "experiments/engines/engine_module.hpp"

namespace heed {

const Engine& float64_engine() { return load_engine("float64", "precision = \"float64\""); }

} // namespace heed
