#include "experiments/sweep/plan.hpp"

#include "experiments/config/config.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/system/content_hash.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {

bool Tuning::settled() const {
  return std::all_of(arms.begin(), arms.end(), [](const ArmTuning& arm) { return arm.chosen.has_value(); });
}

void apply_choices(Plan& plan) {
  if (!plan.tuning) return;
  plan.runs.clear();
  for (std::size_t s = 0; s < plan.seeds.size(); ++s)
    for (const ArmTuning& arm : plan.tuning->arms) {
      plan.runs.push_back(arm.trials.at(arm.chosen.value_or(0)).replicates.at(s));
      if (!arm.chosen) plan.runs.back().id.clear();
    }
}

std::vector<std::string> run_ids(const Plan& plan) {
  std::vector<std::string> ids;
  const auto add = [&](const std::vector<PlannedRun>& runs) {
    for (const PlannedRun& run : runs)
      if (!run.id.empty()) ids.push_back(run.id);
  };
  add(plan.runs);
  if (plan.tuning) {
    add(plan.tuning->runs);
    for (const ArmTuning& arm : plan.tuning->arms)
      for (const Trial& trial : arm.trials) add(trial.replicates);
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::optional<PlannedCost> planned_cost(const Plan& plan, std::size_t arm) {
  if (!plan.tuning) return plan.arms.at(arm).cost;
  const ArmTuning& tuning = plan.tuning->arms.at(arm);
  return tuning.trials.at(tuning.chosen.value_or(0)).cost;
}

std::string hash_of(const Plan& plan) {
  std::string text = fmt::format("metric {}\n", plan.metric);
  if (!plan.also.empty()) text += fmt::format("also {}\n", fmt::join(plan.also, ", "));
  if (plan.margin) text += fmt::format("margin {}\n", *plan.margin);
  if (plan.test != "paired") text += fmt::format("test {}\n", plan.test);
  if (plan.learned) text += fmt::format("learned {}\n", *plan.learned);
  text += fmt::format("match {}\nseeds {}\n", plan.match, fmt::join(plan.seeds, ", "));
  if (!plan.looks.empty()) text += fmt::format("looks {}\n", fmt::join(plan.looks, ", "));
  if (plan.tuning) text += fmt::format("tuning seeds {}\n", fmt::join(plan.tuning->seeds, ", "));
  if (plan.tuning)
    for (const TunedOption& option : plan.tuning->options)
      text += fmt::format("tune {} = {} ordered {}\n", option.key, fmt::join(option.values, " | "), option.ordered);
  for (const PlannedOption& option : plan.within) text += fmt::format("within {} {}\n", option.key, option.name);
  if (!plan.reference_name.empty()) text += fmt::format("reference {}\n", plan.reference_name);
  if (!plan.question.empty()) text += fmt::format("question {}\n", plan.question);
  const auto add_run = [&](const char* what, const PlannedRun& run) {
    text += fmt::format("{} {} {}\n", what, run.seed, run.id);
  };
  for (std::size_t a = 0; a < plan.arms.size(); ++a) {
    const Arm& arm = plan.arms[a];
    text += fmt::format("arm {}\n", arm.label);
    if (!plan.within.empty())
      text += fmt::format("against {} in {} as {}\n", arm.reference, fmt::join(arm.group, " | "), arm.name);
    for (const PlannedChange& change : arm.changes) text += fmt::format("change {} = {}\n", change.key, change.value);
    if (!plan.tuning) {
      for (const std::size_t run : arm.runs) add_run("run", plan.runs[run]);
      continue;
    }
    for (const Trial& trial : plan.tuning->arms.at(a).trials) {
      for (const PlannedChange& change : trial.point) text += fmt::format("try {} = {}\n", change.key, change.value);
      for (const std::size_t run : trial.runs) add_run("trial", plan.tuning->runs[run]);
      for (const PlannedRun& run : trial.replicates) add_run("run", run);
    }
  }
  return content_hash(text).substr(0, 12);
}

std::string sweep_slug(std::string_view name) {
  const std::string safe = slug(name, "_");
  constexpr std::size_t longest = 80;
  return safe.empty() ? "sweep" : safe.substr(0, longest);
}

std::string Plan::folder_name() const { return fmt::format("{}-{}", sweep_slug(name), hash); }

Config config_of(const PlannedRun& run) { return Settings::parse_saved(run.config, "run " + run.id).resolve(); }

} // namespace heed
