// Checkpoints as safetensors (https://github.com/huggingface/safetensors), which PyTorch, NumPy and JAX open:
//
//   8 bytes      length N of the header, little-endian
//   N bytes      JSON: {"__metadata__": {string: string}, NAME: {"dtype", "shape", "data_offsets": [begin, end]}, ...}
//   the rest     the tensors' data without gaps, each at its offsets from the end of the header
//
// Heed adds "checksum" to the metadata, XXH3-128 of the names, shapes and types, the metadata and the data; and
// "weights_checksum", the same without the optimiser's tensors, so that the weights can be read without these.
#pragma once

#include "experiments/system/files.hpp"
#include "experiments/training/training.hpp"

#include <string>
#include <string_view>

namespace heed {

/// What is wanted of a checkpoint: all, to train on; or the weights, without the optimiser's tensors, which are two
/// thirds of a file with Adam's moments.
enum class CheckpointPart { all, weights };

/// The file's bytes. Throws heed::Failed for tensors whose bytes don't fit their shape, or names that occur twice.
std::string to_safetensors(const Checkpoint& checkpoint);

/// Reads what `to_safetensors` wrote, tensors in the order of their data. Trusts nothing that the bytes state of
/// themselves; anything that is not exactly the format, or whose checksum differs or is missing, is an error. Damage to
/// what is not wanted may go unnoticed.
Parsed<Checkpoint> from_safetensors(std::string_view bytes, CheckpointPart part = CheckpointPart::all);
/// The same of a file, of which no more is read than what is wanted.
Parsed<Checkpoint> read_safetensors(const FileParts& file, CheckpointPart part);

} // namespace heed
