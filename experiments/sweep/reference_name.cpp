#include "experiments/sweep/reference_name.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/sweep/arm_labels.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {

std::string reference_values(const Plan& plan, const Config& reference) {
  std::vector<std::string> all, changed;
  for (const Arm& arm : plan.arms)
    for (const PlannedChange& change : arm.changes) {
      all.push_back(change.key);
      const auto is_it = [&](const PlannedOption& option) { return option.key == change.key; };
      if (std::ranges::none_of(plan.within, is_it) && std::ranges::find(changed, change.key) == changed.end())
        changed.push_back(change.key);
    }
  return without_controls(ArmNames(all).values(changed, flat_config(reference)));
}

std::string reference_name(const Plan& plan, const Config& reference) {
  if (!plan.reference_name.empty()) return fmt::format("{} (reference)", without_controls(plan.reference_name));
  const std::string values = reference_values(plan, reference);
  return values.empty() || values.size() > longest_in_name ? "reference" : fmt::format("reference ({})", values);
}

std::vector<std::string> named_labels(const Plan& plan, const Config& reference) {
  const std::string name = reference_name(plan, reference);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < plan.arms.size(); ++i) {
    const Arm& arm = plan.arms[i];
    out.push_back(arm.label);
    if (arm.reference != i || plan.arms.size() == 1) continue;
    const bool grouped = !arm.name.empty() && arm.label.ends_with(arm.name);
    out.back() = (grouped ? arm.label.substr(0, arm.label.size() - arm.name.size()) : "") + name;
  }
  return out;
}

} // namespace heed
