// The registry of formats in which a run's metrics are exported for other tools.
#pragma once

#include "experiments/runs/run_folder.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace heed {

/// A format for exporting a run's metrics.
struct ExportFormat {
  std::string name, summary;
  std::string next; ///< the command that opens the folder, without the folder; may be empty
  /// Writes the run's file or files below `folder`, replaces older ones, and returns the first. Throws heed::Failed.
  std::filesystem::path (*write)(const RunFolder& run, const OutputFolder& folder);
};

const std::vector<ExportFormat>& export_formats();

} // namespace heed
