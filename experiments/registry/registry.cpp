// What all rooms register, gathered for configurations.
#include "experiments/config/registry.hpp"

#include "experiments/data/vocabulary.hpp"
#include "experiments/metrics/bleu.hpp"
#include "experiments/models/model.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/training/variants.hpp"
#include "layers/variants.hpp"

#include <utility>

namespace heed {

namespace {

template <class Info>
VariantFamily family_of(std::string title, std::string table, std::string key, std::span<const Info* const> records) {
  VariantFamily family{std::move(title), std::move(table), std::move(key), {}};
  for (const Info* info : records) family.variants.push_back(&info->about);
  return family;
}

} // namespace

Registry registry() {
  std::vector<VariantFamily> families{family_of("task", "task", "kind", task_kinds()),
                                      family_of("model", "model", "kind", f32::models())};
  for (VariantFamily& family : layer_variant_families()) families.push_back(std::move(family));
  families.push_back(optimizer_family());
  families.push_back(schedule_family());
  return {std::move(families),
          {{"data.tokens", vocabulary_kinds()}, {"train.evaluate_bleu_tokenization", bleu_tokenizations()}}};
}

} // namespace heed
