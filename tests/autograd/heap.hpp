// Counts calls for heap memory: the test program replaces operator new.
#pragma once

#include <cstdint>

namespace heed {

/// How often this program has asked for heap memory so far.
std::int64_t heap_calls();

} // namespace heed
