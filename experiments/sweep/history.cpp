#include "experiments/sweep/history.hpp"

#include "experiments/runs/names.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

namespace heed {

namespace {

std::string number_or(const std::optional<double>& value, const char* none) {
  return value ? fmt::format("{:g}", *value) : none;
}

/// "2 arms added, 1 left out": arms are identified by their changes.
std::string arm_changes(const Plan& earlier, const Plan& later) {
  const auto arms_of = [](const Plan& plan) {
    std::multiset<std::string> out;
    for (const Arm& arm : plan.arms) {
      std::string text = fmt::format("{}", fmt::join(arm.group, "|"));
      for (const PlannedChange& change : arm.changes) text += fmt::format("\n{} = {}", change.key, change.value);
      out.insert(text);
    }
    return out;
  };
  const std::multiset<std::string> before = arms_of(earlier), after = arms_of(later);
  std::vector<std::string> added, left_out;
  std::ranges::set_difference(after, before, std::back_inserter(added));
  std::ranges::set_difference(before, after, std::back_inserter(left_out));
  std::vector<std::string> parts;
  if (!added.empty()) parts.push_back(fmt::format("{} arm{} added", added.size(), plural(added.size())));
  if (!left_out.empty()) parts.push_back(fmt::format("{} arm{} left out", left_out.size(), plural(left_out.size())));
  return fmt::format("{}", fmt::join(parts, ", "));
}

OutputFile file_in(const std::filesystem::path& folder) { return file_of_sweep(folder, "finished.txt"); }

/// The lines that are run IDs.
std::set<std::string> ids_in(std::string_view rest) {
  std::set<std::string> out;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (is_run_id(rest.substr(0, end))) out.emplace(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

} // namespace

std::vector<std::string> plan_changes(const Plan& earlier, const Plan& later) {
  std::vector<std::string> out;
  const auto changed = [&](const char* what, const std::string& before, const std::string& after) {
    if (before != after) out.push_back(fmt::format("{} {} -> {}", what, before, after));
  };
  if (earlier.seeds != later.seeds) {
    if (earlier.seeds.size() != later.seeds.size())
      changed("seeds", fmt::format("{}", earlier.seeds.size()), fmt::format("{}", later.seeds.size()));
    else out.emplace_back("other seeds");
  }
  if (earlier.looks != later.looks) {
    const auto text = [](const Plan& plan) {
      return plan.looks.empty() ? std::string("none") : fmt::format("{}", fmt::join(plan.looks, ", "));
    };
    changed("looks", text(earlier), text(later));
  }
  if (std::string arms = arm_changes(earlier, later); !arms.empty()) out.push_back(std::move(arms));
  changed("report.metric", earlier.metric, later.metric);
  const auto listed = [](const std::vector<std::string>& names) {
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  };
  changed("report.also", listed(earlier.also), listed(later.also));
  changed("report.margin", number_or(earlier.margin, "none"), number_or(later.margin, "none"));
  changed("report.answer", earlier.answer, later.answer);
  changed("report.test", earlier.test, later.test);
  changed("report.over", earlier.over, later.over);
  changed("report.scale", earlier.scale, later.scale);
  changed("report.learned", number_or(earlier.learned, "found"), number_or(later.learned, "found"));
  return out;
}

std::vector<EarlierSweep> earlier_sweeps(const Plan& plan, const std::filesystem::path& out) {
  std::vector<EarlierSweep> found;
  if (!plan.frozen) return found;
  const std::vector<std::string> own = run_ids(plan);
  for (const std::filesystem::path& folder : sweep_folders(out)) {
    if (folder.filename() == plan.folder_name()) continue;
    const auto bytes = file_of_sweep(folder, "plan.json").read();
    const auto earlier = bytes ? plan_from_json(*bytes) : Parsed<Plan>::wrong(bytes.error);
    // All times have the same format, so they can be compared as strings.
    if (!earlier || !earlier->frozen || earlier->frozen->at >= plan.frozen->at) continue;
    std::vector<std::string> shared;
    std::ranges::set_intersection(own, run_ids(*earlier), std::back_inserter(shared));
    if (shared.empty()) continue;
    found.push_back({folder.filename().string(), earlier->frozen->at, shared.size(), plan_changes(*earlier, plan)});
  }
  std::ranges::sort(found, {}, &EarlierSweep::at);
  return found;
}

std::set<std::string> recorded_as_finished(const std::filesystem::path& folder) {
  const auto bytes = file_in(folder).read();
  return bytes ? ids_in(*bytes) : std::set<std::string>();
}

void record_finished(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder) {
  const std::set<std::string> known = recorded_as_finished(folder);
  std::vector<RunFolder> runs;
  const auto add = [&](const std::vector<PlannedRun>& planned) {
    for (const PlannedRun& run : planned)
      if (!run.id.empty() && !known.contains(run.id)) runs.push_back({out / run.id});
  };
  add(plan.runs);
  if (plan.variation) add(plan.variation->runs);
  if (plan.tuning) add(plan.tuning->runs);
  const std::vector<RunState> states = states_of(runs);
  std::set<std::string> finished;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (states[i] == RunState::finished) finished.insert(runs[i].id());
  if (finished.empty()) return;

  const auto bytes = file_in(folder).read(); // another process may have added some
  if (bytes.is_unreadable()) return;         // it may contain runs that are recorded nowhere else
  if (bytes) finished.merge(ids_in(*bytes));
  std::string text;
  for (const std::string& id : finished) text += id + "\n";
  file_in(folder).write(text);
}

} // namespace heed
