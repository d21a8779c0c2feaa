// The door of libheed_float64.so.
#include "experiments/training/engine_table.hpp"

extern "C" const heed::Engine* heed_float64_engine() { return &heed::f64::engine_table(); }
