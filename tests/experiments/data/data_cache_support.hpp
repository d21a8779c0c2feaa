// What tests of kept data share: a folder to keep it in, and how much this process has read.
#pragma once

#include "experiments/data/data_cache.hpp"
#include "tests/environment.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace heed::test {

/// Bytes that this process has read so far, as the kernel counts them.
inline std::int64_t bytes_read() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  std::int64_t bytes = -1;
  counts >> name >> bytes;
  return bytes;
}

/// The files of this kind in a folder.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder, const std::string& extension) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == extension) out.push_back(entry.path());
  return out;
}

} // namespace heed::test
