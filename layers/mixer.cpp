#include "layers/mixer.hpp"

namespace heed::HEED_REAL {

const MixerInfo& mixer_info(const std::string& name) {
  return variant_named(mixers(), name, "[mixer] there is no kind");
}

bool has_attention(const LayerChoice& choice) { return choice.mixer.kind == "attention"; }

} // namespace heed::HEED_REAL
