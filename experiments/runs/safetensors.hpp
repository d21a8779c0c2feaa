// Reads and writes checkpoints as safetensors (https://github.com/huggingface/safetensors), a format that PyTorch,
// NumPy and JAX can open:
//
//   8 bytes      length N of the header, little-endian
//   N bytes      JSON: {"__metadata__": {string: string}, NAME: {"dtype", "shape", "data_offsets": [begin, end]}, ...}
//   the rest     the tensors' data without gaps, each at its offsets from the end of the header
//
// Heed adds two checksums to the metadata. "checksum" is the XXH3-128 of the names, shapes and types, the metadata and
// the data. "weights_checksum" is the same without the optimiser's tensors, so that the weights can be read without
// them.
#pragma once

#include "experiments/system/files.hpp"
#include "experiments/training/training.hpp"

#include <string>
#include <string_view>

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

} // namespace heed
