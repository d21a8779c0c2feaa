#include "experiments/sweep/history.hpp"

#include "experiments/runs/run_folder.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>

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
  changed("report.test", earlier.test, later.test);
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

} // namespace heed
