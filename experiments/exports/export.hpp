// Runs for other tools.
#pragma once

#include "experiments/runs/run_folder.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace heed {

/// A format that a run's metrics are written in.
struct ExportFormat {
  std::string name, summary;
  std::string next; ///< the command that opens the folder, which follows it; or nothing
  /// Writes the run's file or files below `folder`, over older ones, and returns the first. Throws heed::Failed.
  std::filesystem::path (*write)(const RunFolder& run, const OutputFolder& folder);
};

const std::vector<ExportFormat>& export_formats();

} // namespace heed
