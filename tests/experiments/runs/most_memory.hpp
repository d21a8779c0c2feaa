// How much memory a test took.
#pragma once

#include <cstdint>
#include <sys/resource.h>

namespace heed::test {

/// The peak memory of this process, in bytes.
inline std::int64_t most_memory() {
  ::rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

} // namespace heed::test
