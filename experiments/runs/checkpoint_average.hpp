// Averages the weights of several checkpoints of a run.
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/training/training.hpp"

#include <span>

namespace heed {

/// The newest checkpoint with each weight replaced by its mean over all checkpoints, computed in double precision
/// (Vaswani et al. 2017, arXiv 1706.03762, section 6.1). The optimiser's tensors and the metadata are those of the
/// newest checkpoint. `newest_first` has at least one element. Throws heed::Failed if the checkpoints differ in names,
/// shapes or types.
Checkpoint average(std::span<const Checkpoint> newest_first);

/// The average of a run's `count` newest checkpoints, without the optimiser's tensors. `damaged` gets one sentence for
/// each damaged checkpoint. Throws heed::Refused if fewer than `count` checkpoints are intact.
Checkpoint average_of_newest(const RunFolder& run, std::int64_t count, std::vector<std::string>& damaged);

} // namespace heed
