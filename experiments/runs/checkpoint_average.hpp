// The mean of several checkpoints' weights.
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/training/training.hpp"

#include <span>

namespace heed {

/// The newest checkpoint with every weight replaced by its mean, in double precision, over all of them (Vaswani et al.
/// 2017, arXiv 1706.03762, section 6.1); the optimiser's numbers and the metadata are the newest's. `newest_first`: one
/// at least. Throws heed::Failed where they differ in names, shapes or types.
Checkpoint average(std::span<const Checkpoint> newest_first);

/// The average of a run's `count` newest checkpoints, without the optimiser's tensors. Throws heed::Refused where it does not have so many whole ones;
/// `damaged` gets a sentence for each that is not whole.
Checkpoint average_of_newest(const RunFolder& run, std::int64_t count, std::vector<std::string>& damaged);

} // namespace heed
