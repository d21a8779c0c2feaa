// Reads and writes plans as files: OUT/sweeps/NAME-HASH/plan.json.
#include "experiments/sweep/plan.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <system_error>

namespace heed {

std::string in_words(const std::vector<PlannedChange>& changes, std::string_view between) {
  return joined(changes, between,
                [](const PlannedChange& change) { return fmt::format("{} = {}", change.key, change.value); });
}

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

std::size_t count_final_runs(const Plan& plan) {
  return plan.runs.size() + (plan.variation ? plan.variation->runs.size() : 0);
}

std::vector<PlannedRun> final_runs(const Plan& plan) {
  std::vector<PlannedRun> out = plan.runs;
  if (plan.variation) out.insert(out.end(), plan.variation->runs.begin(), plan.variation->runs.end());
  return out;
}

std::vector<std::string> run_ids(const Plan& plan) {
  std::vector<std::string> ids;
  const auto add = [&](const std::vector<PlannedRun>& runs) {
    for (const PlannedRun& run : runs)
      if (!run.id.empty()) ids.push_back(run.id);
  };
  add(plan.runs);
  if (plan.variation) add(plan.variation->runs);
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
  if (plan.asks_not_worse()) text += fmt::format("answer {}\n", plan.answer);
  if (plan.test != "paired") text += fmt::format("test {}\n", plan.test);
  if (plan.answers_over_tasks()) text += fmt::format("over {} scale {}\n", plan.over, plan.scale);
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
  if (const auto& variation = plan.variation) {
    text += fmt::format("vary {} values {}\n", fmt::join(variation->sources, ", "), variation->values);
    for (const Variation::Fixing& fixing : variation->fixings) {
      text += fmt::format("fixing {}\n", fixing.base);
      for (const std::vector<std::string>& varied : fixing.varied)
        text += fmt::format("varied {}\n", fmt::join(varied, ", "));
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

namespace fs = std::filesystem;

namespace {

OutputFile plan_file(const fs::path& folder) { return file_of_sweep(folder, "plan.json"); }

/// `NAME` of `NAME-HASH`.
std::string name_part(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.substr(0, name.rfind('-'));
}

} // namespace

OutputFile file_of_sweep(const fs::path& folder, const std::string& name) {
  const fs::path path = folder.has_filename() ? folder : folder.parent_path(); // "sweeps/a/" has no filename
  const fs::path above = path.parent_path();
  return {above.parent_path(), above.filename() / path.filename() / name};
}

fs::path freeze(const Plan& unfrozen, const fs::path& out, const std::string& kernels) {
  Plan plan = unfrozen;
  const fs::path folder = out / "sweeps" / plan.folder_name();
  const OutputFile file = plan_file(folder);
  OutputFile(out, fs::path("sweeps") / plan.folder_name()).make_folder();
  OutputFile(out, fs::path("sweeps") / plan.folder_name()).remove_leftovers();
  auto before = file.read();
  require_readable(before);
  if (!before.is_missing() && !(before && plan_from_json(*before))) {
    file.set_aside();
    before = file.read();
  }
  if (const auto earlier = before ? plan_from_json(*before) : Parsed<Plan>::wrong("there is none")) {
    plan.frozen = earlier->frozen;
  } else {
    const std::vector<std::string> ids = run_ids(plan);
    const auto finished = std::ranges::count_if(ids, [&](const std::string& id) {
      return state_of(RunFolder{out / id}) == RunState::finished;
    });
    plan.frozen = Frozen{utc_now(), static_cast<std::size_t>(finished), ids.size()};
  }
  if (plan.frozen && plan.frozen->kernels.empty()) plan.frozen->kernels = kernels;
  const std::string bytes = to_json(plan);
  if (before && *before == bytes) file.touch(); // marks it as the most recent
  else file.write(bytes);
  return folder;
}

bool is_frozen(const Plan& plan, const fs::path& out) {
  return plan_file(out / "sweeps" / plan.folder_name()).exists();
}

Plan load_plan(const fs::path& folder) {
  const auto bytes = plan_file(folder).read();
  if (!bytes) throw Refused(bytes.error + "; a sweep's folder is OUT/sweeps/NAME-HASH");
  auto plan = plan_from_json(*bytes);
  if (!plan)
    throw Refused(fmt::format("'{}' {}{}; run the sweep's configuration again to write it anew (finished runs stay)",
                              plan_file(folder).string(),
                              plan.problem == ReadProblem::other_format ? "" : "is damaged: ", plan.error));
  read_choices(*plan, folder);
  return std::move(*plan);
}

bool has_name(const fs::path& folder, const std::string& name) {
  const std::string part = name_part(folder);
  if (part == name) return true;
  if (part != sweep_slug(name)) return false;
  const auto bytes = plan_file(folder).read();
  const auto plan = bytes ? plan_from_json(*bytes) : Parsed<Plan>::wrong(bytes.error);
  return !plan || plan->name == name;
}

std::vector<fs::path> sweep_folders(const fs::path& out) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  const auto names = OutputFile(out, "sweeps").names();
  if (names.is_unreadable()) throw Refused(names.error);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    const fs::path folder = out / "sweeps" / name;
    if (const auto file = plan_file(folder).identity()) found.emplace_back(file->written, folder);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return b < a; });
  std::vector<fs::path> folders;
  for (auto& [written, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

fs::path find_sweep(const fs::path& out, const std::optional<std::string>& name) {
  // The user gave this path explicitly, so it may contain symbolic links.
  if (std::error_code error; name && !name->empty() && fs::exists(fs::path(*name) / "plan.json", error))
    return fs::is_symlink(*name, error) || fs::is_symlink(fs::path(*name).parent_path(), error)
               ? fs::canonical(*name, error)
               : fs::path(*name);
  const std::vector<fs::path> folders = sweep_folders(out);
  if (folders.empty())
    throw Refused(fmt::format("there are no sweeps in '{}'; run a configuration first (heed run FILE), or name another "
                              "folder",
                              out.string()));
  if (!name) return folders.front();

  for (const fs::path& folder : folders)
    if (folder.filename() == *name || has_name(folder, *name)) return folder;
  std::vector<fs::path> matching;
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    names.push_back(folder.filename().string());
    if (!name->empty() && names.back().starts_with(*name)) matching.push_back(folder);
  }
  if (matching.size() == 1) return matching.front();
  std::vector<std::string> parts = names;
  for (const fs::path& folder : folders) parts.push_back(name_part(folder));
  const std::string near = nearest(*name, parts);
  throw Refused(fmt::format("sweep '{}': {} in '{}', which has {}{}", *name,
                            matching.empty() ? "no such sweep" : "more than one name begins like this", out.string(),
                            first_words(names), near.empty() ? "" : "; did you mean " + near + "?"));
}

} // namespace heed
