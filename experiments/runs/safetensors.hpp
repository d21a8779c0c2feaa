// Checkpoints as safetensors (https://github.com/huggingface/safetensors), which PyTorch, NumPy and JAX open:
//
//   8 bytes      length N of the header, little-endian
//   N bytes      JSON: {"__metadata__": {string: string}, NAME: {"dtype", "shape", "data_offsets": [begin, end]}, ...}
//   the rest     the tensors' data without gaps, each at its offsets from the end of the header
//
// Heed adds "checksum" to the metadata: XXH3-128 of the names, shapes and types, the metadata and the data.
#pragma once

#include "experiments/system/files.hpp"
#include "experiments/training/training.hpp"

#include <string>
#include <string_view>

namespace heed {

/// The file's bytes. Throws heed::Failed for tensors whose bytes don't fit their shape, or names that occur twice.
std::string to_safetensors(const Checkpoint& checkpoint);

/// Reads what `to_safetensors` wrote, tensors in the order of their data. Trusts nothing that the bytes state of
/// themselves; anything that is not exactly the format, or whose checksum differs or is missing, is an error.
Parsed<Checkpoint> from_safetensors(std::string_view bytes);

} // namespace heed
