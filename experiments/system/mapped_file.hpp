// A file's bytes in memory that all processes share which look at it.
#pragma once

#include "experiments/system/files.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace heed {

/// A regular file, mapped for reading. What was mapped stays when the file is removed or replaced. Where somebody shortens
/// it, or its disk fails, what is gone reads as zeros and ends nobody: whoever used bytes asks `state` and `lost` then, on
/// any thread.
class MappedFile {
public:
  /// The error is that of read_file.
  static Parsed<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const;

  /// It is another where somebody has written to the file or shortened it, and may be where it was renamed or removed.
  struct State {
    std::uint64_t size = 0;
    std::int64_t changed = 0; ///< nanoseconds
    bool operator==(const State&) const = default;
  };
  /// Of the file as it is now: one call to the system.
  State state() const;
  /// Whether bytes were read that were gone.
  bool lost() const;

private:
  struct Mapping;
  explicit MappedFile(std::unique_ptr<Mapping> mapping);
  std::unique_ptr<Mapping> mapping_; // null: it was moved away
};

} // namespace heed
