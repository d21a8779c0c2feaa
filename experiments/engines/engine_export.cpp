// The exported entry function of an engine's shared library (engine_module.hpp).
#include "autograd/real.hpp"
#include "experiments/engines/engine.hpp"

namespace heed::HEED_REAL {
const Engine& engine_table();
}

extern "C" const heed::Engine* heed_engine() { return &heed::HEED_REAL::engine_table(); }
