// Where the float64 engine comes from. Programs link one of the two implementations.
#pragma once

#include "experiments/engines/engine.hpp"

namespace heed {

/// The engine that computes with float64. Two implementations: float64_linked.cpp is for programs that hold it (tests,
/// benchmarks); float64_module.cpp loads it from the file libheed_float64.so, since it takes a third of the build and
/// few runs need it.
/// Throws heed::Refused where it can't be had.
const Engine& float64_engine();

} // namespace heed
