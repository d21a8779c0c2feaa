#include "experiments/sweep/report_labels.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/steps_to.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace heed {
namespace {

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

std::vector<std::string> metrics_shown(const Config& reference, const Plan& plan) {
  std::vector<std::string> out{plan.metric};
  for (const std::string& also : plan.also) add_name(out, also);
  if (const auto goal = steps_to(plan.metric)) add_name(out, goal->metric);
  if (plan.arms.size() == 1)
    for (const Metric& metric : metrics_of(reference))
      if (!metric.length) add_name(out, metric.name);
  return out;
}

std::vector<std::string> arms_shown(const Plan& plan) {
  std::vector<std::string> out;
  if (plan.arms.size() == 1) return out;
  for (std::size_t i = 0; i < plan.arms.size(); ++i) {
    const Arm& arm = plan.arms[i];
    add_name(out, arm.reference == i ? "reference" : arm.name.empty() ? arm.label : arm.name);
  }
  return out;
}

/// Refuses a label that another of these names has as well, or that is the name of another.
void check_distinct(const std::map<std::string, Setting>& labels, const std::vector<std::string>& names) {
  const auto shown = [&](const std::string& name) {
    const auto label = labels.find(name);
    return label == labels.end() ? name : std::get<std::string>(label->second.value);
  };
  for (const std::string& name : names)
    for (const std::string& other : names)
      if (labels.contains(name) && other != name && shown(other) == shown(name))
        throw Refused(
            fmt::format("{}: [report.label] gives \"{}\" the name {}, which \"{}\" has already; choose another text",
                        labels.at(name).origin.text(), name, toml_string(shown(name)), other));
}

} // namespace

std::map<std::string, std::string> checked_labels(const Settings& settings, const Config& reference, const Plan& plan) {
  const std::map<std::string, Setting>& labels = settings.report_labels();
  std::map<std::string, std::string> out;
  if (labels.empty()) return out;
  const std::vector<std::string> metrics = metrics_shown(reference, plan), arms = arms_shown(plan);
  std::vector<std::string> names = metrics;
  names.insert(names.end(), arms.begin(), arms.end());
  for (const auto& [name, label] : labels) {
    if (std::ranges::find(names, name) == names.end()) {
      const std::string near = did_you_mean(name, names);
      throw Refused(fmt::format("{}: [report.label] names '{}', which is neither a metric of this report nor an arm{}",
                                label.origin.text(), name,
                                near.empty() ? "; there are " + list_in_words(names) : near));
    }
    out[name] = std::get<std::string>(label.value);
  }
  check_distinct(labels, metrics);
  check_distinct(labels, arms);
  return out;
}

} // namespace heed
