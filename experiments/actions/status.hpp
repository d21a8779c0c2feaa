// The state of an output folder: its sweeps, their runs, and the progress of those that train now.
#pragma once

#include "experiments/actions/progress_board.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/launch/executor.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace heed {

/// A sweep, and what the progress display of `heed run` would have heard of it.
struct SweepLook {
  SweepStatus status = {};
  std::vector<BoardRun> board = {};
  std::vector<RunEvent> events = {};
};

struct FolderLook {
  StatusResult status = {}; ///< its `sweeps` are empty: they are below
  std::vector<SweepLook> sweeps = {};

  /// With the sweeps in their place.
  StatusResult result() const;
};

/// Throws heed::Refused if `out` is not a folder of runs. Queued runs that have ended are marked so in their folders.
FolderLook look_at(const std::filesystem::path& out);

} // namespace heed
