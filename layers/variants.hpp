// The families of interchangeable layers, for whoever lists them: configurations, `heed variants`, tests.
#pragma once

#include "options/variant.hpp"

#include <vector>

namespace heed {

/// attention.score, attention.normalizer, position.kind, recurrent.cell and recurrent.attention, each with its variants'
/// info records.
std::vector<VariantFamily> layer_variant_families();

} // namespace heed
