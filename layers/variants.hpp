// Lists the families of interchangeable layers, for configurations, `heed variants` and tests.
#pragma once

#include "options/variant.hpp"

#include <vector>

namespace heed {

/// attention.score, attention.normalizer, attention.projection, position.kind, block.norm_kind, block.activation,
/// recurrent.cell and recurrent.attention, each with the info records of its variants.
std::vector<VariantFamily> layer_variant_families();

} // namespace heed
