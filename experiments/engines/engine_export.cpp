// The exported entry function of an engine's shared library (engine_module.hpp).
#include "autograd/real.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/engines/engine_interface.hpp"

namespace heed::HEED_REAL {
const Engine& engine_table();
}

/// What the program compares with its own value (engine_module.hpp) before it calls heed_engine.
extern "C" const char* heed_engine_interface() { return HEED_ENGINE_INTERFACE; }

extern "C" const heed::Engine* heed_engine() { return &heed::HEED_REAL::engine_table(); }
