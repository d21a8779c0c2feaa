// The runs of a sweep, as the display of its progress lists them.
#pragma once

#include "experiments/command_line/progress_board.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/sweep/run_sweep.hpp"

#include <string>
#include <vector>

namespace heed {

/// All runs in the order of the progress display: the tuning runs, then the replicates.
std::vector<BoardRun> board_runs(const Preparation& prepared, const Plan& plan);

/// "66 runs: 11 arms, 6 seeds; 12 done before": what a sweep says when it starts.
std::string start_in_words(const SweepStart& start);

} // namespace heed
