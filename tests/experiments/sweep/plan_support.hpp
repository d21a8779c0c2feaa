// Test helpers that make a sweep's plan or a configuration from TOML text and list the labels of a plan's arms.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <string>
#include <vector>

namespace heed {

inline Plan plan_of(const std::string& toml, const CostOf& cost_of = {}) {
  return make_plan(
      Settings::parse(toml, "test.toml"), [](const Config&) { return "data"; }, "test", cost_of);
}

inline Config config_from(const std::string& toml) { return Settings::parse(toml, "test.toml").resolve(); }

inline std::vector<std::string> labels_of(const Plan& plan) {
  std::vector<std::string> out;
  for (const Arm& arm : plan.arms) out.push_back(arm.label);
  return out;
}

using Labels = std::vector<std::string>;

} // namespace heed
