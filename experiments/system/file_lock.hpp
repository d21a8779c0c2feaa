// A lock that processes take in turns, as a file that stays.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

namespace heed {

/// Held until it or its process ends, whatever ends that. It holds against other locks of the same process, too, and
/// works on shared file systems.
class FileLock {
public:
  /// Nothing if another has it. Throws heed::Failed where the file can't be made.
  static std::optional<FileLock> attempt(const std::filesystem::path& file);
  /// Waits; nothing if `give_up` says so.
  static std::optional<FileLock> wait(
      const std::filesystem::path& file, const std::function<bool()>& give_up = [] { return false; });
  /// Whether anyone, this process included, holds it. Takes nothing, so it never disturbs one who does.
  static bool held(const std::filesystem::path& file);

  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~FileLock();

private:
  explicit FileLock(int file) : file_(file) {}
  int file_;
};

} // namespace heed
