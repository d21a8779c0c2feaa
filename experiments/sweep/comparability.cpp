#include "experiments/sweep/comparability.hpp"

#include "experiments/metrics/metric.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/lengths.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <string_view>

namespace heed {
namespace {

/// Whether an option determines which examples are held out, or their targets.
bool decides_validation(std::string_view key) {
  constexpr std::array<std::string_view, 3> of_tasks{"task.kind", "task.seed", "task.validation"};
  // The data's content matters, not its path. data.bucket only affects how training batches are drawn.
  if (key.starts_with("data.")) return !key.ends_with("path") && key != "data.bucket";
  return std::find(of_tasks.begin(), of_tasks.end(), key) != of_tasks.end();
}

std::map<std::string, std::string> deciding(const Config& config) {
  std::map<std::string, std::string> out;
  for (const FlatOption& option : flatten(config))
    if (decides_validation(option.key)) out[option.key] = option.value;
  return out;
}

/// Whether a task has a fixed list of examples, part of which are held out. The list then identifies the task.
bool is_listed(const Task& task) { return task.facts().sizes[static_cast<std::size_t>(Split::train)] >= 0; }

/// The number of validation rows that an evaluation uses; empty: all.
std::optional<std::int64_t> rows_measured(const Config& config, const Task& task, TaskFormat form) {
  const std::int64_t rows = config.train.evaluate_batches * config.train.batch;
  if (rows == 0 || rows >= task.evaluation_rows(form, Split::validation)) return std::nullopt;
  return rows;
}

std::string rows_in_words(const std::optional<std::int64_t>& rows) {
  return rows ? fmt::format("the first {} held-out rows", *rows) : "all held-out rows";
}

std::string_view in_words(TaskFormat form) {
  switch (form) {
    case TaskFormat::language_model: return "one row in which each token predicts the next";
    case TaskFormat::sequence_to_sequence: return "an input and an output with its end token";
    case TaskFormat::classification: return "rows with a class each";
    case TaskFormat::image_classification: return "images with a class each";
  }
  return "";
}

} // namespace

std::string why_not_comparable(const Config& reference, const Task& reference_task, TaskFormat reference_form,
                               const Config& arm, const Task& arm_task, TaskFormat arm_form, const std::string& name) {
  const std::string metric = evaluated_metric(name);
  if (metric != name && arm.train.evaluate_every != reference.train.evaluate_every)
    return fmt::format(
        "it is evaluated every {} steps and the reference every {} (train.evaluate_every): the steps to the target "
        "would be measured on different grids",
        arm.train.evaluate_every, reference.train.evaluate_every);
  if (!metric_named(arm, metric)) return fmt::format("it does not measure {}, by which arms are compared", metric);
  if (const std::string& words = arm.train.evaluate_bleu_tokenization,
      &others = reference.train.evaluate_bleu_tokenization;
      metric == "val_bleu" && words != others)
    return fmt::format(
        "its BLEU uses a different tokenization: train.evaluate_bleu_tokenization is {}, and the reference's is {}",
        words, others);
  if (const auto of = metric_of_lengths(metric); of && !of->of_split()) {
    const auto here = lengths_within(*of, arm.train.evaluate_lengths),
               there = lengths_within(*of, reference.train.evaluate_lengths);
    if (here != there)
      return fmt::format("its {} is the mean over the lengths {} (train.evaluate_lengths), the reference's over {}",
                         metric, fmt::join(here, ", "), fmt::join(there, ", "));
  }
  const auto estimated = [](const Config& c) { return c.train.evaluate_random_batches * c.train.batch; };
  if (metric == "val_loss_estimate" && estimated(arm) != estimated(reference))
    return fmt::format(
        "its loss is estimated from {} rows (train.evaluate_random_batches x train.batch), the reference's from {}",
        estimated(arm), estimated(reference));
  const auto here = deciding(arm), there = deciding(reference);
  for (const auto& [key, value] : there) {
    const auto own = here.find(key);
    if (own == here.end() || own->second != value)
      return fmt::format("{} is {}, and the reference's is {}: they would be measured on different data", key,
                         own == here.end() ? "of no effect" : own->second, value);
  }
  for (const auto& [key, value] : here)
    if (!there.contains(key))
      return fmt::format(
          "{} is {}, an option without effect in the reference: they would be measured on different data", key, value);
  if (!arm.data.path.empty() && arm_task.fingerprint() != reference_task.fingerprint())
    return "its data differs from the reference's";
  if (is_listed(arm_task) && arm_task.fingerprint() != reference_task.fingerprint())
    return fmt::format(
        "its examples differ from the reference's: they would be measured on different data ({}, and {})",
        arm_task.fingerprint(), reference_task.fingerprint());
  if (arm_form != reference_form)
    return fmt::format("its model sees {}, the reference's {}: their losses are over different targets",
                       in_words(arm_form), in_words(reference_form));
  const std::int64_t classes = arm_task.shape(arm_form).classes, others = reference_task.shape(reference_form).classes;
  if (classes != others)
    return fmt::format("it predicts one of {}, the reference one of {}: their losses are over different targets",
                       classes, others);
  const auto here_rows = rows_measured(arm, arm_task, arm_form),
             there_rows = rows_measured(reference, reference_task, reference_form);
  if (here_rows != there_rows)
    return fmt::format("it is measured on {} (train.evaluate_batches x train.batch), the reference on {}",
                       rows_in_words(here_rows), rows_in_words(there_rows));
  return "";
}

} // namespace heed
