#include "layers/variants.hpp"

#include "layers/attention/normalizer.hpp"
#include "layers/attention/part.hpp"
#include "layers/attention/projection.hpp"
#include "layers/attention/score.hpp"
#include "layers/feed_forward.hpp"
#include "layers/mixer.hpp"
#include "layers/mixers/decay.hpp"
#include "layers/mixers/feature.hpp"
#include "layers/norm.hpp"
#include "layers/position/position.hpp"
#include "layers/recurrent/cell.hpp"
#include "layers/recurrent/decoder.hpp"

namespace heed {

std::vector<VariantFamily> layer_variant_families() {
  return {{"score function", "attention", "score", variants_of(f32::scores())},
          {"normaliser", "attention", "normalizer", variants_of(f32::normalizers())},
          {"projection of attention", "attention", "projection", variants_of(f32::projections())},
          {"positional scheme", "position", "kind", variants_of(f32::positions())},
          {"sequence mixer", "mixer", "kind", variants_of(f32::mixers())},
          {"feature map", "mixer", "feature", variants_of(f32::features())},
          {"decay", "mixer", "decay", variants_of(f32::decays())},
          {"norm", "block", "norm_kind", variants_of(f32::norms())},
          {"feed-forward network", "block", "activation", variants_of(f32::feed_forwards())},
          {"recurrent cell", "recurrent", "cell", variants_of(f32::recurrent_cells())},
          {"attention of a recurrent decoder", "recurrent", "attention", variants_of(f32::recurrent_attentions())}};
}

std::vector<const Variant*> attention_part_records() { return variants_of(f32::attention_parts()); }

} // namespace heed
