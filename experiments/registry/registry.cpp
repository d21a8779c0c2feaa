// Collects the names that all modules register for use in configurations.
#include "experiments/config/registry.hpp"

#include "autograd/error.hpp"
#include "experiments/config/unknown_names.hpp"
#include "experiments/config/values.hpp"
#include "experiments/data/vocabulary.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/metrics/text/translation_scores.hpp"
#include "experiments/models/model.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/schedules.hpp"
#include "layers/exclusions.hpp"
#include "layers/variants.hpp"

#include <fmt/format.h>
#include <map>
#include <utility>

namespace heed {

Registry registry() {
  std::vector<VariantFamily> families{{"task", "task", "kind", variants_of(task_kinds())},
                                      {"model", "model", "kind", variants_of(f32::models())}};
  for (VariantFamily& family : layer_variant_families()) families.push_back(std::move(family));
  families.push_back({"optimiser", "train", "optimizer", variants_of(f32::optimizers())});
  families.push_back({"learning-rate schedule", "train", "schedule", variants_of(schedules())});
  std::map<std::string, std::vector<std::string>> stacks;
  for (const f32::ModelInfo* model : f32::models()) stacks[model->about.name] = model->stacks;
  return {std::move(families),
          attention_part_records(),
          {{"data.tokens", vocabulary_kinds()}, {"train.evaluate_bleu_tokenization", bleu_tokenizations()}},
          f32::exclusions(),
          std::move(stacks)};
}

std::optional<WrongChoice> wrong_choice(const Config& config, const std::map<std::string, Value>& of_model) {
  return f32::wrong_choice(config, of_model);
}

std::string wrong_metric(const std::string& name) {
  try {
    const std::string evaluated = evaluated_metric(name);
    if (may_be_metric(evaluated)) return "";
    std::vector<std::string> names = metric_names();
    std::string near = hint_for("report.metric", evaluated);
    if (near.empty()) near = did_you_mean(evaluated, names);
    if (near.empty()) {
      std::erase_if(names, [](const std::string& one) { return one.find('.') != std::string::npos; });
      near = fmt::format("; metrics of most runs are {}", fmt::join(names, ", "));
    }
    return "which no run measures" + near;
  } catch (const Refused& error) {                                      // steps_to of another form
    return "which" + std::string(error.what()).substr(name.size() + 2); // it begins with the name in quotes
  }
}

} // namespace heed
