// Declares the float64 engine. A program links one of two implementations.
#pragma once

#include "experiments/engines/engine.hpp"

namespace heed {

/// The engine that computes in float64. It has two implementations. float64_linked.cpp is for programs that contain the
/// engine (tests, benchmarks). float64_module.cpp loads it from libheed_float64.so, because compiling it takes a third
/// of the build and few runs need it. Throws heed::Refused if it is not available.
const Engine& float64_engine();

} // namespace heed
