#include "layers/variants.hpp"

#include "layers/attention/normalizer.hpp"
#include "layers/attention/score.hpp"
#include "layers/position/position.hpp"
#include "layers/recurrent/cell.hpp"
#include "layers/recurrent/decoder_steps.hpp"

namespace heed {

namespace {

template <class Info> std::vector<const Variant*> records(std::span<const Info* const> table) {
  std::vector<const Variant*> out;
  for (const Info* info : table) out.push_back(&info->about);
  return out;
}

} // namespace

std::vector<VariantFamily> layer_variant_families() {
  return {{"score function", "attention", "score", records(f32::scores())},
          {"normaliser", "attention", "normalizer", records(f32::normalizers())},
          {"positional scheme", "position", "kind", records(f32::positions())},
          {"recurrent cell", "recurrent", "cell", records(f32::recurrent_cells())},
          {"attention of a recurrent decoder", "recurrent", "attention", records(f32::recurrent_attentions())}};
}

} // namespace heed
