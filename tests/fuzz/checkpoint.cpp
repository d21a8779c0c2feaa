// Fuzz target: the reader of checkpoints. A wrong checksum is corrected, and the header length in the file is adapted
// to the corrected checksum.
#include "experiments/runs/checkpoints.hpp"
#include "tests/fuzz/right_checksum.hpp"
#include "tests/fuzz/target.hpp"

#include <cstring>

using namespace heed;
using fuzz::require;

namespace {

/// Adds the change of `bytes.size()` since `before` to the header length, because a checksum of 32 digits may replace
/// one of another length.
void lengthen_header(std::string& bytes, std::size_t before) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) return;
  std::memcpy(&length, bytes.data(), sizeof length);
  length += bytes.size() - before;
  std::memcpy(bytes.data(), &length, sizeof length);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto bytes = std::string(fuzz::text(data, size));
  auto checkpoint = from_safetensors(bytes);
  if (!checkpoint && fuzz::put_right(bytes, checkpoint.error)) {
    lengthen_header(bytes, size);
    checkpoint = from_safetensors(bytes);
  }
  if (!checkpoint) {
    require(!checkpoint.error.empty(), "refused without a reason");
    return 0;
  }
  step_of(*checkpoint);
  const auto weights = from_safetensors(bytes, CheckpointPart::weights);
  require(!weights || weights->metadata == checkpoint->metadata, "the weights have another metadata");
  const std::string written = to_safetensors(*checkpoint);
  const auto again = from_safetensors(written);
  require(again.value.has_value(), "what was written is refused: " + again.error);
  require(from_safetensors(written, CheckpointPart::weights).value.has_value(),
          "the weights that were written are refused");
  require(to_safetensors(*again) == written, "what was written reads as something else");
  require(again->metadata == checkpoint->metadata && again->tensors.size() == checkpoint->tensors.size(),
          "another content");
  return 0;
}
