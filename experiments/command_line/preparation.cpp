#include "experiments/command_line/preparation.hpp"

#include "autograd/error.hpp"
#include "experiments/models/model.hpp"
#include "experiments/sweep/comparability.hpp"

#include <fmt/format.h>
#include <utility>

namespace heed {

const Task& Tasks::of(const Config& config) {
  std::string key = config.general.precision;
  for (const FlatOption& option : flatten(config))
    if (option.key.starts_with("data.") || option.key.starts_with("task.") ||
        option.key == "train.batch")  // listed data is cut into batches
      key += "\n" + option.key + "=" + option.value;
  auto& task = made_[key];
  if (!task) task = make_task(config);
  return *task;
}

Form form_of(const Config& config) { return f32::model_info(config.model.kind).form; }

ArmFacts facts_of(const Config& config, Tasks& tasks) {
  const Task& task = tasks.of(config);
  const Engine& with = engine(config);
  with.check(config, task);
  return {with.cost(config, task), task.chance(form_of(config))};
}

namespace {

std::string not_comparable(const Config& reference, const Config& arm, const std::string& metric, Tasks& tasks) {
  return why_not_comparable(reference, tasks.of(reference), form_of(reference), arm, tasks.of(arm), form_of(arm),
                            metric);
}

} // namespace

Settings load_settings(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  Settings settings = Settings::load(file);
  if (!overrides.empty()) settings.override_with(overrides);
  return settings;
}

Preparation prepare(const std::filesystem::path& file, const std::vector<std::string>& overrides, Tasks& tasks) {
  Settings settings = load_settings(file, overrides);
  Plan plan = make_plan(
      settings, [&](const Config& config) { return tasks.of(config).fingerprint(); }, file.stem().string(),
      [&](const Config& config) { return facts_of(config, tasks).cost; });
  std::vector<PreparedArm> arms;
  for (const Arm& arm : plan.arms) {
    Config config = config_of(plan.runs.at(arm.runs.front()));
    try {
      ArmFacts facts = facts_of(config, tasks);
      arms.push_back({std::move(config), std::move(facts)});
      if (const std::string why = not_comparable(arms.front().config, arms.back().config, plan.metric, tasks);
          arms.size() > 1 && !why.empty())
        throw Refused(fmt::format("this arm can't be compared with the reference: {}", why));
    } catch (const Refused& error) {
      if (plan.arms.size() == 1) throw;
      throw Refused(fmt::format("{} (in the arm \"{}\")", error.what(), arm.label));
    }
  }
  MetricInfo metric = metric_of(arms.front().config, plan.metric);
  return {std::move(settings), std::move(plan), std::move(arms), std::move(metric)};
}

std::string size_in_words(const Plan& plan) {
  auto counted = [](std::size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  const std::string runs = counted(plan.runs.size(), "run");
  if (plan.runs.size() == 1 && !plan.tuning) return runs;
  std::string text = fmt::format("{}: {}, {}", runs, counted(plan.arms.size(), "arm"),
                                 counted(plan.seeds.size(), "seed"));
  if (plan.tuning)
    text += fmt::format("; before them {}: {} of each arm, {}", counted(plan.tuning->runs.size(), "tuning run"),
                        counted(plan.tuning->arms.front().trials.size(), "trial"),
                        counted(plan.tuning->seeds.size(), "seed"));
  return text;
}

std::string shell_words(const std::vector<std::string>& words) {
  static constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@+%";
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

} // namespace heed
