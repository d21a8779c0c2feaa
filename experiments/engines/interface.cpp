// The fingerprint of the interface between the program and its engines.
#include "experiments/engines/engine_module.hpp"

#include "experiments/engines/engine_interface.hpp"

namespace heed {

const char* engine_interface() { return HEED_ENGINE_INTERFACE; }

} // namespace heed
