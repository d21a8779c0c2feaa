// Lists, writes, reads and averages the checkpoints in a run's folder, which are safetensors files.
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/system/files.hpp"
#include "experiments/training/training.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The longest header that is read or written. The format allows 100 MB. 1,024 layers with Adam's moments need 17 MB.
inline constexpr std::uint64_t longest_header = std::uint64_t{1} << 25;

/// Which part of a checkpoint to read: `all`, to continue training; or `weights`, without the optimiser's tensors. With
/// Adam's moments, the optimiser's tensors are two thirds of the file.
enum class CheckpointPart { all, weights };

/// Returns the file's bytes. Throws heed::Failed if a tensor's bytes don't fit its shape, or if a name occurs twice.
std::string to_safetensors(const Checkpoint& checkpoint);

/// Reads the output of `to_safetensors`, with tensors in the order of their data. All lengths and offsets in the bytes
/// are checked. Anything that deviates from the format, and a wrong or missing checksum, is an error. Damage to the
/// part that is not requested may not be detected.
Parsed<Checkpoint> from_safetensors(std::string_view bytes, CheckpointPart part = CheckpointPart::all);
/// The same for a file. Only the requested part is read.
Parsed<Checkpoint> read_safetensors(const FileParts& file, CheckpointPart part);

/// Steps of the checkpoints in the folder, newest first, including damaged ones. Throws heed::Unreadable if the folder
/// can't be listed.
std::vector<std::int64_t> checkpoint_steps(const RunFolder& run);
/// Writes the checkpoint, then removes all but the newest `keep`.
void write_checkpoint(const RunFolder& run, std::int64_t step, const Checkpoint& checkpoint, std::int64_t keep = 2);
Parsed<Checkpoint> read_checkpoint(const RunFolder& run, std::int64_t step, CheckpointPart part = CheckpointPart::all);
/// The newest checkpoint that is intact and for which `problem` returns an empty text. `damaged` gets one sentence for
/// each newer one, at most 21. Throws heed::Unreadable if a checkpoint can't be read at the moment, because it may be
/// intact.
struct KeptCheckpoint {
  std::int64_t step = 0;
  Checkpoint checkpoint;
};
using CheckpointProblem = std::function<std::string(std::int64_t step, const Checkpoint&)>;
std::optional<KeptCheckpoint> newest_checkpoint(
    const RunFolder& run, std::vector<std::string>* damaged = nullptr,
    const CheckpointProblem& problem = [](std::int64_t, const Checkpoint&) { return std::string(); });
/// The same as newest_checkpoint, without the optimiser's tensors.
std::optional<KeptCheckpoint> newest_weights(const RunFolder& run, std::vector<std::string>* damaged = nullptr);

/// The newest checkpoint with each weight replaced by its mean over all checkpoints, computed in double precision
/// (Vaswani et al. 2017, arXiv 1706.03762, section 6.1). The optimiser's tensors and the metadata are those of the
/// newest checkpoint. `newest_first` has at least one element. Throws heed::Failed if the checkpoints differ in names,
/// shapes or types.
Checkpoint average(std::span<const Checkpoint> newest_first);

/// The average of a run's `count` newest checkpoints, without the optimiser's tensors. `damaged` gets one sentence for
/// each damaged checkpoint. Throws heed::Refused if fewer than `count` checkpoints are intact.
Checkpoint average_of_newest(const RunFolder& run, std::int64_t count, std::vector<std::string>& damaged);

} // namespace heed
