#include "experiments/config/families.hpp"

#include "experiments/models/model.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/variants.hpp"

namespace heed {

VariantFamily model_family() { return {"model", "model", "kind", variants_of(f32::models())}; }

VariantFamily optimizer_family() { return {"optimiser", "train", "optimizer", variants_of(f32::optimizers())}; }

std::vector<VariantFamily> training_variant_families() { return {optimizer_family(), schedule_family()}; }

} // namespace heed
