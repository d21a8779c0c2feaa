// Counts heap allocations: the test program replaces operator new.
#pragma once

#include <cstdint>

namespace heed {

/// The number of heap allocations of this program so far.
std::int64_t heap_calls();

} // namespace heed
