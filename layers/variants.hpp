// Lists the families of interchangeable layers, for configurations, `heed variants` and tests.
#pragma once

#include "options/variant.hpp"

#include <vector>

namespace heed {

/// attention.score, attention.normalizer, attention.projection, position.kind, mixer.kind, mixer.feature, mixer.decay,
/// block.norm_kind, block.activation, recurrent.cell and recurrent.attention, each with the info records of its
/// variants.
std::vector<VariantFamily> layer_variant_families();

/// The records of the parts of attention. Their options are keys of [attention].
std::vector<const Variant*> attention_part_records();

} // namespace heed
