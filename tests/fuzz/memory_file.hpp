// A file in memory that has a path, for readers that take a path.
#pragma once

#include <string>
#include <string_view>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace heed::fuzz {

class MemoryFile {
public:
  MemoryFile() : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  void hold(std::string_view bytes) {
    if (::ftruncate(descriptor_, 0) != 0) throw std::system_error(errno, std::generic_category(), "ftruncate");
    if (!bytes.empty() && ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      throw std::system_error(errno, std::generic_category(), "pwrite");
  }

private:
  int descriptor_;
};

} // namespace heed::fuzz
