#include "layers/variants.hpp"

#include "layers/attention/normalizer.hpp"
#include "layers/attention/score.hpp"
#include "layers/position/position.hpp"
#include "layers/recurrent/cell.hpp"
#include "layers/recurrent/decoder_steps.hpp"

namespace heed {

std::vector<VariantFamily> layer_variant_families() {
  return {{"score function", "attention", "score", variants_of(f32::scores())},
          {"normaliser", "attention", "normalizer", variants_of(f32::normalizers())},
          {"positional scheme", "position", "kind", variants_of(f32::positions())},
          {"recurrent cell", "recurrent", "cell", variants_of(f32::recurrent_cells())},
          {"attention of a recurrent decoder", "recurrent", "attention", variants_of(f32::recurrent_attentions())}};
}

} // namespace heed
