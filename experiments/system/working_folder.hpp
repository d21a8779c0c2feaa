// Where relative paths of data start, for programs that change their working folder.
#pragma once

#include "experiments/system/descriptor.hpp"

#include <filesystem>

namespace heed {

/// While it lives, relative paths of the data that this thread opens start in `folder`, not in the process's working
/// folder, which another thread may change at any time. Scopes may be nested; the innermost one counts.
class WorkingFolder {
public:
  /// @param folder  absolute; empty: the process's working folder
  explicit WorkingFolder(std::filesystem::path folder);
  ~WorkingFolder();
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

  /// Where relative paths start now for this thread; empty if the process's working folder was removed.
  static std::filesystem::path now();
  /// The process's working folder, for other processes that start in it; no descriptor if it can't be opened.
  static Descriptor open();
  /// The path from which this thread opens `path`.
  static std::filesystem::path place_of(const std::filesystem::path& path);

private:
  std::filesystem::path folder_;
  const std::filesystem::path* before_;
};

} // namespace heed
