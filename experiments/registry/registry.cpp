// Collects the names that all modules register for use in configurations.
#include "experiments/config/registry.hpp"

#include "experiments/data/vocabulary.hpp"
#include "experiments/metrics/text/bleu.hpp"
#include "experiments/models/model.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/schedules.hpp"
#include "layers/variants.hpp"

#include <utility>

namespace heed {

Registry registry() {
  std::vector<VariantFamily> families{{"task", "task", "kind", variants_of(task_kinds())},
                                      {"model", "model", "kind", variants_of(f32::models())}};
  for (VariantFamily& family : layer_variant_families()) families.push_back(std::move(family));
  families.push_back({"optimiser", "train", "optimizer", variants_of(f32::optimizers())});
  families.push_back({"learning-rate schedule", "train", "schedule", variants_of(schedules())});
  return {std::move(families),
          {{"data.tokens", vocabulary_kinds()}, {"train.evaluate_bleu_tokenization", bleu_tokenizations()}}};
}

} // namespace heed
