// Engines that are files beside the program, loaded when they are needed: libheed_float64.so, libheed_float32_avx2.so.
#pragma once

#include "experiments/engines/engine.hpp"

#include <string>

namespace heed {

/// Whether the file is there, or can be made: where the launcher started the program, it builds it.
bool has_engine(const std::string& part);

/// The engine of libheed_PART.so, which lies beside the program. Where the launcher started the program, it builds the
/// file first, or what has changed since. Throws heed::Refused, which begins with `asked_by`, where it can't be had.
const Engine& load_engine(const std::string& part, const std::string& asked_by);

} // namespace heed
