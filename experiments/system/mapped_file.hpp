// A read-only memory map of a file, whose memory all processes share.
#pragma once

#include "experiments/system/files.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace heed {

/// A regular file, mapped for reading. The mapping stays valid if the file is removed or replaced. If the file is
/// truncated or its disk fails, the lost bytes read as zeros and nothing crashes. After using bytes, the caller checks
/// `state` and `lost`, on any thread.
class MappedFile {
public:
  /// Errors are those of read_file.
  static Parsed<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const;

  /// Differs after the file was written or truncated. It may also differ after the file was renamed or removed.
  struct State {
    std::uint64_t size = 0;
    std::int64_t changed = 0; ///< in nanoseconds
    bool operator==(const State&) const = default;
  };
  /// The file's current state; one system call.
  State state() const;
  /// Whether bytes were read that no longer exist.
  bool lost() const;

private:
  struct Mapping;
  explicit MappedFile(std::unique_ptr<Mapping> mapping);
  std::unique_ptr<Mapping> mapping_; // null after a move
};

} // namespace heed
