// What tests of kept data share: a folder to keep it in, and how much this process has read.
#pragma once

#include "experiments/data/kept_data.hpp"
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

/// A variable of the environment as it is for a while.
class Environment {
public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (before_) ::setenv(name_, before_->c_str(), 1);
    else ::unsetenv(name_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

private:
  const char* name_;
  std::optional<std::string> before_;
};

} // namespace heed::test
