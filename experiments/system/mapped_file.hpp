// A file's bytes in memory that all processes share which look at it.
#pragma once

#include "experiments/system/files.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

namespace heed {

/// A regular file, mapped for reading. Only for files that Heed made in a folder of its own: it removes and replaces
/// these and never shortens one, which would end whoever reads what is gone (SIGBUS). What was mapped stays when the
/// file is removed.
class MappedFile {
public:
  /// The error is that of read_file.
  static Parsed<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

} // namespace heed
