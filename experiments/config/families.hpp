// The families of variants that the experiments register; the configuration gathers them with those of the layers
// (variant_families).
#pragma once

#include "layers/variants.hpp"

#include <vector>

namespace heed {

/// model.kind.
VariantFamily model_family();
/// train.optimizer, train.schedule.
std::vector<VariantFamily> training_variant_families();

} // namespace heed
