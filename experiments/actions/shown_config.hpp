// A resolved config, or a run with its outcome, as data.
#pragma once

#include "experiments/actions/results.hpp"
#include "experiments/runs/run_folder.hpp"

#include <optional>
#include <string>
#include <vector>

namespace heed {

struct ShownConfig {
  ShowResult result;
  std::vector<std::string> notes; ///< settings that are dropped; what of the run can't be read
};

/// @param file       the config's file
/// @param run        the run of this config, if it is one
/// @param diff_from  "defaults", "reference" or empty
/// @param out        the output folder, with the runs of [train] start
/// Throws heed::Refused for a wrong config.
ShownConfig shown_config(const std::string& file, const std::vector<std::string>& overrides,
                         const std::optional<RunFolder>& run, const std::string& diff_from, const std::string& out);

} // namespace heed
