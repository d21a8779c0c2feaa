// Helpers for the tests of the data cache: the number of bytes that this process has read, and the files of a folder
// with a given extension.
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

/// The number of bytes that this process has read so far, from /proc/self/io; -1 if the file cannot be read.
inline std::int64_t bytes_read() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  std::int64_t bytes = -1;
  counts >> name >> bytes;
  return bytes;
}

/// The files of a folder that have the given extension.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder, const std::string& extension) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == extension) out.push_back(entry.path());
  return out;
}

} // namespace heed::test
