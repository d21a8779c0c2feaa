// The runs of a sweep, as the display of its progress lists them.
#pragma once

#include "experiments/command_line/progress_board.hpp"
#include "experiments/sweep/preparation.hpp"

#include <vector>

namespace heed {

/// All runs in the order of the progress display: the tuning runs, then the replicates.
std::vector<BoardRun> board_runs(const Preparation& prepared, const Plan& plan);

} // namespace heed
