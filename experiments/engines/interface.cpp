#include "experiments/engines/interface.hpp"

#include "experiments/engines/engine_interface.hpp"

namespace heed {

const char* engine_interface() { return HEED_ENGINE_INTERFACE; }

} // namespace heed
