#include "experiments/sweep/plan_checks.hpp"

#include "autograd/error.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/lengths.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/metrics/task_scale.hpp"
#include "experiments/runs/run_start.hpp"
#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/corrections.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/power.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace heed {

namespace {

/// The option and its place in the file: "report.margin (copy.toml:7:8)".
std::string placed(const Settings& settings, const std::string& key) {
  const auto found = settings.values().find(key);
  return found == settings.values().end() ? key : fmt::format("{} ({})", key, found->second.origin.text());
}

void check_target(const Preparation& prepared, const std::string& name, const std::string& key) {
  const std::optional<StepsTo> goal = steps_to(name);
  if (!goal) return;
  const Metric metric = metric_of(prepared.arms.front().config, goal->metric, key);
  if (!metric.has(goal->value))
    throw Refused(fmt::format("{}: no run can reach {} = {:g}, because it is always {}; take a value in this range",
                              placed(prepared.settings, key), goal->metric, goal->value, metric.range_in_words()));
}

/// The metric by each group's reference, and the checks of one answer over all groups.
void check_over_tasks(const Preparation& prepared) {
  const Plan& plan = prepared.plan;
  OverTasksQuestion question{.over = plan.over,
                             .scale = plan.scale,
                             .tasks = 0,
                             .unpaired = plan.test == "unpaired",
                             .not_worse = plan.asks_not_worse(),
                             .given_over = placed(prepared.settings, "report.over"),
                             .given_scale = placed(prepared.settings, "report.scale"),
                             .groups = "sweep.within"};
  for (std::size_t a = 0; a < plan.arms.size(); ++a) {
    if (plan.arms[a].reference != a) continue;
    ++question.tasks;
    if (!plan.answers_over_tasks() || plan.scale != "metric" || steps_to(plan.metric)) continue;
    const Metric metric = metric_of(prepared.arms[a].config, plan.metric);
    if (metric.low != prepared.metric.low || metric.high != prepared.metric.high || metric.unit != prepared.metric.unit)
      throw Refused(
          fmt::format("{}: {} is {} at {}, and {} in the first group, so its differences can't be added up; set "
                      "report.scale to \"chance to best\", or to a number for each task",
                      question.given_over, plan.metric, metric.range_in_words(), plan.arms[a].label,
                      prepared.metric.range_in_words()));
  }
  require_over_tasks(question, prepared.metric);
}

std::string sight_note(const PreparedArm& arm) {
  if (arm.leakage.empty()) return "";
  return fmt::format("the model sees the targets that it predicts: {}. Its metrics do not measure learning",
                     arm.leakage);
}

std::string positions_note(const PreparedArm& arm) {
  if (arm.untrained_positions == 0) return "";
  return fmt::format(
      "position.kind = \"learned\": sequences of validation or test are longer than training's longest; {} "
      "position{} never trained",
      arm.untrained_positions, arm.untrained_positions == 1 ? " is" : "s are");
}

/// A note about an ineffective prefix: all positions see the first position anyway, unless a window or a dilation hides
/// it.
std::string prefix_note(const PreparedArm& arm) {
  const auto idle = [](const LayerChoice& layer) {
    const AttentionOptions& a = layer.attention;
    return a.causal && a.prefix == 1 && a.window == 0 && a.dilation == 1;
  };
  if (arm.config.layers.empty() || arm.config.any_block([&](const LayerChoice& block) { return !idle(block); }))
    return "";
  return "attention.prefix = 1 does nothing without a window or a dilation: all positions attend to the first position "
         "anyway";
}

/// A note about keys of any length that erase: what a key k reads is multiplied by 1 - b |k|^2, which may be below -1.
std::string erase_note(const PreparedArm& arm) {
  const auto may_grow = [](const LayerChoice& layer) {
    const MixerOptions& m = layer.mixer;
    return m.kind != "attention" && m.erase != "none" && m.query_key_norm != "l2";
  };
  if (!arm.config.any_block(may_grow)) return "";
  return "mixer.erase: keys of any length may multiply the state by a factor below -1, so it may grow without bound; "
         "mixer.query_key_norm = \"l2\" gives keys the length 1";
}

/// A note about the first query whose keys are all hidden.
std::string keyless_note(const PreparedArm& arm) {
  if (arm.queries_without_keys.empty()) return "";
  const QueryWithoutKeys& first = arm.queries_without_keys.front();
  const std::size_t others = arm.queries_without_keys.size() - 1;
  return fmt::format(
      "attention.{0}mask_mod and {0}score_mod: in {1}, query {2} may attend to no key in head {3}, so its output there "
      "is 0 (the first sequence of validation; {4} of its {5} queries{6})",
      first.cross ? "cross_" : "", first.attention, first.query, first.head, first.count, first.queries,
      others == 0 ? "" : fmt::format("; and in {} more module{}", others, plural(others)));
}

/// What an arm takes from its start, if this is not all of it, has another precision or computes something else.
std::string start_note(const PreparedArm& arm) {
  if (!arm.start || (arm.start->match.all() && arm.start->converted.empty() && arm.start->changes.empty())) return "";
  return fmt::format("train.start: {}", start_in_words(*arm.start));
}

/// A note if several seeds have one start.
std::string shared_start_note(const Preparation& prepared) {
  const std::size_t seeds = prepared.plan.seeds.size();
  const auto starts = [](const PreparedArm& arm) { return arm.start.has_value(); };
  if (seeds < 2 || std::ranges::none_of(prepared.arms, starts)) return "";
  return fmt::format(
      "train.start: all {} seeds of an arm start from the same run, so they only vary what happens after "
      "this start; another start could give other results",
      seeds);
}

/// A note if the warm-up lasts for the whole run; otherwise empty.
std::string warmup_note(const PreparedArm& arm) {
  const TrainOptions& train = arm.config.train;
  if (train.steps == 0 || train.warmup < train.steps || train.warmup == 0) return "";
  std::string text = fmt::format("train.warmup = {} is not shorter than the run (train.steps = {}): the learning rate "
                                 "only rises, and stays below train.learning_rate",
                                 train.warmup, train.steps);
  if (train.schedule == "constant" || train.schedule == "noam") return text;
  return text + fmt::format("; train.schedule = \"{}\" and its options do nothing", train.schedule);
}

/// "with 3 seeds p is at least 0.25, so no arm can differ from the reference; sweep.seeds = 6 is the first ..."
std::string seeds_note(const Plan& plan) {
  const std::size_t seeds = plan.seeds.size();
  if (plan.arms.size() < 2 || seeds < 2 || smallest_p_of(plan, seeds) <= statistics::significance_level) return "";
  std::size_t enough = seeds;
  while (smallest_p_of(plan, enough) > statistics::significance_level) ++enough;
  if (plan.asks_not_worse())
    return fmt::format("with {} seeds p is at least {:.2g}, so no arm can be shown to be not worse than the reference; "
                       "that takes {} seeds or more (sweep.seeds={})",
                       seeds, smallest_p_of(plan, seeds), enough, enough);
  return fmt::format("with {} seeds p is at least {:.2g}, so no arm can differ from the reference; differences can be "
                     "found with {} seeds or more (sweep.seeds={})",
                     seeds, smallest_p_of(plan, seeds), enough, enough);
}

/// The first of the looks at which no p can be small enough.
std::optional<std::size_t> first_without_power(const Plan& plan, const std::vector<std::size_t>& looks) {
  const std::vector<double> levels = statistics::look_levels(looks);
  for (std::size_t k = 0; k < levels.size(); ++k)
    if (smallest_p_of(plan, looks[k]) > levels[k]) return k;
  return std::nullopt;
}

/// "the first look that can find a difference among 10 seeds is at 6: looks = [6, 10]"
std::string possible_looks(const Plan& plan) {
  constexpr std::size_t most = 1000;
  for (std::size_t seeds = plan.seeds.size(); seeds <= most; ++seeds)
    for (std::size_t first = 2; first < seeds; ++first) {
      if (first_without_power(plan, {first, seeds})) continue;
      const std::string looks = fmt::format("looks = [{}, {}]", first, seeds);
      if (seeds == plan.seeds.size())
        return fmt::format("with {} seeds, the first look can be at {}: {}", seeds, first, looks);
      return fmt::format("{} seeds are too few for two looks; remove looks, or take sweep.seeds = {} with {}",
                         plan.seeds.size(), seeds, looks);
    }
  return "remove looks";
}

/// Whether an option determines which examples are held out, or their targets.
bool decides_validation(std::string_view key) {
  constexpr std::array<std::string_view, 3> of_tasks{"task.kind", "task.seed", "task.validation"};
  // The data's content matters, not its path. data.bucket and data.order_seed only affect how training batches are
  // drawn.
  if (key.starts_with("data.")) return !key.ends_with("path") && key != "data.bucket" && key != "data.order_seed";
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

/// The number of validation sequences that an evaluation uses; empty: all.
std::optional<std::int64_t> sequences_measured(const Config& config, const Task& task, TaskFormat format) {
  const std::int64_t sequences = evaluated_sequences(config, task, format);
  if (sequences == task.evaluation_sequences(format, Split::validation)) return std::nullopt;
  return sequences;
}

std::string sequences_in_words(const std::optional<std::int64_t>& sequences) {
  return sequences ? fmt::format("the first {} held-out sequences", *sequences) : "all held-out sequences";
}

std::string_view in_words(TaskFormat format) {
  switch (format) {
    case TaskFormat::language_model: return "one sequence in which each token predicts the next";
    case TaskFormat::sequence_to_sequence: return "an input and an output with its end token";
    case TaskFormat::classification: return "sequences with a class each";
    case TaskFormat::image_classification: return "images with a class each";
  }
  return "";
}

} // namespace

std::int64_t evaluated_sequences(const Config& config, const Task& task, TaskFormat format) {
  const std::int64_t all = task.evaluation_sequences(format, Split::validation),
                     some = config.train.evaluate_batches * config.train.batch;
  return some > 0 ? std::min(some, all) : all;
}

void refuse_unreachable(const Preparation& prepared) {
  const Plan& plan = prepared.plan;
  const Metric& metric = prepared.metric;
  check_target(prepared, plan.metric, "report.metric");
  for (const std::string& also : plan.also) check_target(prepared, also, "report.also");
  if (plan.asks_not_worse())
    metric.require_noninferiority(plan.margin, placed(prepared.settings, "report.answer"), "report.margin",
                                  "report.metric");
  if (plan.margin) metric.require_margin(*plan.margin, placed(prepared.settings, "report.margin"));
  check_over_tasks(prepared);
  if (plan.learned) metric.require_value(*plan.learned, placed(prepared.settings, "report.learned"));
}

std::vector<std::string> notes_of(const Preparation& prepared) {
  std::vector<std::string> first, later;
  const auto add = [&](const auto& note_of, std::vector<std::string>& notes) {
    std::map<std::string, std::vector<std::string>> arms; // arm labels by note
    for (std::size_t a = 0; a < prepared.arms.size(); ++a)
      for (const std::string& note : note_of(prepared.arms[a]))
        if (!note.empty()) arms[note].push_back(fmt::format("\"{}\"", prepared.plan.arms[a].label));
    for (const auto& [note, labels] : arms)
      notes.push_back(labels.size() == prepared.arms.size()
                          ? note
                          : fmt::format("{} (in the arm{} {})", note, plural(labels.size()), fmt::join(labels, ", ")));
  };
  const auto one = [](std::string (*note_of)(const PreparedArm&)) {
    return [note_of](const PreparedArm& arm) { return std::vector{note_of(arm)}; };
  };
  add(one(sight_note), first);
  if (std::string note = seeds_note(prepared.plan); !note.empty()) first.push_back(std::move(note));
  if (std::string note = shared_start_note(prepared); !note.empty()) first.push_back(std::move(note));
  add([](const PreparedArm& arm) { return arm.warnings; }, later);
  add(one(keyless_note), later);
  add([](const PreparedArm& arm) { return std::vector{arm.missing_segment_end}; }, later);
  add(one(start_note), later);
  add(one(warmup_note), later);
  add(one(prefix_note), later);
  add(one(erase_note), later);
  add(one(positions_note), later);
  for (const std::vector<std::string>* notes :
       {&prepared.settings.notes(), &prepared.plan.notes, &std::as_const(later)})
    std::ranges::copy(*notes, std::back_inserter(first));
  return first;
}

double smallest_p_of(const Plan& plan, std::size_t seeds) {
  const double sides = plan.asks_not_worse() ? 0.5
                                             : 1; // a one-sided test counts a flip and its mirror image separately
  if (plan.test != "unpaired") return sides * statistics::smallest_p(seeds);
  const auto compared = std::ranges::count_if(plan.arms,
                                              [&](const Arm& arm) { return &plan.arms[arm.reference] != &arm; });
  return std::min(1.0, static_cast<double>(std::max<std::ptrdiff_t>(compared, 1)) * sides *
                           statistics::smallest_unpaired_p(seeds, seeds));
}

void check_looks(const LookSpec& spec, const Plan& plan) {
  if (spec.seeds.empty()) return;
  if (plan.looks.back() != plan.seeds.size())
    throw Refused(spec.origin.text() + ": " +
                  fmt::format("[sweep] looks ends at {} seeds, and there are {}: the last look must use all seeds; end "
                              "the list with {}, or set sweep.seeds",
                              plan.looks.back(), plan.seeds.size(), plan.seeds.size()));
  const std::optional<std::size_t> bad = first_without_power(plan, plan.looks);
  if (!bad) return;
  const std::size_t n = plan.looks[*bad];
  throw Refused(fmt::format("{}: [sweep] looks: with {} seeds, p is at least {:.2g}, and of the looks at {} seeds, the "
                            "one at {} may use only {:.2g}; {}",
                            spec.origin.text(), n, smallest_p_of(plan, n), fmt::join(plan.looks, ", "), n,
                            statistics::look_levels(plan.looks)[*bad], possible_looks(plan)));
}

std::string why_not_comparable(const Config& reference, const Task& reference_task, TaskFormat reference_format,
                               const Config& arm, const Task& arm_task, TaskFormat arm_format,
                               const std::string& name) {
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
    return fmt::format("its loss is estimated from {} sequences (train.evaluate_random_batches x train.batch), the "
                       "reference's from {}",
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
  if (arm_format != reference_format)
    return fmt::format("its model sees {}, the reference's {}: their losses are over different targets",
                       in_words(arm_format), in_words(reference_format));
  const std::int64_t classes = arm_task.sizes(arm_format).classes,
                     others = reference_task.sizes(reference_format).classes;
  if (classes != others)
    return fmt::format("it predicts one of {}, the reference one of {}: their losses are over different targets",
                       classes, others);
  const auto here_sequences = sequences_measured(arm, arm_task, arm_format),
             there_sequences = sequences_measured(reference, reference_task, reference_format);
  if (here_sequences != there_sequences)
    return fmt::format("it is measured on {} (train.evaluate_batches x train.batch), the reference on {}",
                       sequences_in_words(here_sequences), sequences_in_words(there_sequences));
  return "";
}

} // namespace heed
