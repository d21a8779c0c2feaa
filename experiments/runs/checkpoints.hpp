// A run's checkpoints.
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/safetensors.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// Steps of the checkpoints in the folder, the newest first, whether or not they are whole. Throws heed::Unreadable where
/// the folder can't be listed.
std::vector<std::int64_t> checkpoint_steps(const RunFolder& run);
/// Keeps the checkpoint, and then removes all but the newest `keep`.
void write_checkpoint(const RunFolder& run, std::int64_t step, const Checkpoint& checkpoint, std::int64_t keep = 2);
Parsed<Checkpoint> read_checkpoint(const RunFolder& run, std::int64_t step, CheckpointPart part = CheckpointPart::all);
/// The newest checkpoint that is whole, and for which `problem` has no sentence; `damaged` gets a sentence for each newer
/// one. Throws heed::Unreadable where one can't be read now: whether it is whole is then not known.
struct KeptCheckpoint {
  std::int64_t step = 0;
  Checkpoint checkpoint;
};
using CheckpointProblem = std::function<std::string(std::int64_t step, const Checkpoint&)>;
std::optional<KeptCheckpoint> newest_checkpoint(
    const RunFolder& run, std::vector<std::string>* damaged = nullptr,
    const CheckpointProblem& problem = [](std::int64_t, const Checkpoint&) { return std::string(); });
/// The same without the optimiser's tensors.
std::optional<KeptCheckpoint> newest_weights(const RunFolder& run, std::vector<std::string>* damaged = nullptr);

} // namespace heed
