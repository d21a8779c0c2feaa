// The processes of a team beside the first, which has the run's folder (runs/worker.hpp): what it tells them to do.
#pragma once

#include "experiments/runs/worker.hpp"

namespace heed {

/// Said by the first process, before it begins to train.
void announce(Ranks& ranks, const TeamRun& run);
/// Said by it when there is nothing more.
void announce_end(Ranks& ranks);

/// All of another process's work: what the first announces, until there is no more. It writes no file.
/// Throws heed::Failed or heed::Refused as training does, and where it finds another run in the folder.
void follow(Ranks& ranks, const WorkerParts& parts);

} // namespace heed
