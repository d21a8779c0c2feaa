#include "experiments/config/families.hpp"

#include "experiments/models/model.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/variants.hpp"

namespace heed {

VariantFamily model_family() {
  VariantFamily family{"model", "model", "kind", {}};
  for (const f32::ModelInfo* info : f32::models()) family.variants.push_back(&info->about);
  return family;
}

VariantFamily optimizer_family() {
  VariantFamily family{"optimiser", "train", "optimizer", {}};
  for (const f32::OptimizerInfo* info : f32::optimizers()) family.variants.push_back(&info->about);
  return family;
}

std::vector<VariantFamily> training_variant_families() { return {optimizer_family(), schedule_family()}; }

} // namespace heed
