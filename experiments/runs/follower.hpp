// Work of the processes in a process group other than the first. The first process owns the run's folder
// (runs/worker.hpp) and tells the others which run to train.
#pragma once

#include "experiments/runs/worker.hpp"

namespace heed {

/// Called by the first process before it begins to train: tells the other processes which run to train.
void announce(Ranks& ranks, const ProcessGroupRun& run);
/// Called by the first process when there are no more runs.
void announce_end(Ranks& ranks);

/// The main loop of each other process: trains what the first process announces, until there are no more runs. It
/// writes no file. Throws heed::Failed or heed::Refused as training does, and if it finds a different run in the
/// folder.
void follow(Ranks& ranks, const WorkerParts& parts);

} // namespace heed
