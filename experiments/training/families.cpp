#include "experiments/config/families.hpp"

#include "experiments/models/model.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/schedules.hpp"

namespace heed {

VariantFamily model_family() { return {"model", "model", "kind", variants_of(f32::models())}; }

std::vector<VariantFamily> training_variant_families() {
  return {{"optimiser", "train", "optimizer", variants_of(f32::optimizers())},
          {"learning-rate schedule", "train", "schedule", variants_of(schedules())}};
}

} // namespace heed
