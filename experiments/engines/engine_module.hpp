// Loads engines from shared libraries beside the program on demand: libheed_float64.so, libheed_float32_avx2.so. A
// program links one of two implementations of the float64 engine.
#pragma once

#include "experiments/engines/engine.hpp"

#include <string>

namespace heed {

/// Whether the library exists or can be built. It can be built if the launcher started the program.
bool has_engine(const std::string& part);

/// The engine of libheed_PART.so, which is beside the program. If the launcher started the program, it first builds the
/// library or updates it. Throws heed::Refused if the engine is not available; the message begins with `asked_by`.
const Engine& load_engine(const std::string& part, const std::string& asked_by);

/// The engine that computes in float64. It has two implementations. float64_linked.cpp is for programs that contain the
/// engine (tests, benchmarks). float64_module.cpp loads it from libheed_float64.so, because compiling it takes a third
/// of the build and few runs need it. Throws heed::Refused if it is not available.
const Engine& float64_engine();

/// A hash of all headers that engines share with the program, as the program was compiled. An engine with another value
/// may have other layouts of classes, so that its functions must not be called.
const char* engine_interface();

} // namespace heed
