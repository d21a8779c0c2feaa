// Loads engines from shared libraries beside the program on demand: libheed_float64.so, libheed_float32_avx2.so.
#pragma once

#include "experiments/engines/engine.hpp"

#include <string>

namespace heed {

/// Whether the library exists or can be built. It can be built if the launcher started the program.
bool has_engine(const std::string& part);

/// The engine of libheed_PART.so, which is beside the program. If the launcher started the program, it first builds the
/// library or updates it. Throws heed::Refused if the engine is not available; the message begins with `asked_by`.
const Engine& load_engine(const std::string& part, const std::string& asked_by);

} // namespace heed
