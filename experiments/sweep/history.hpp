// What was known before a sweep was planned: earlier sweeps of the same folder that share its runs.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace heed {

/// An earlier sweep with runs in common.
struct EarlierSweep {
  std::string name;                 ///< its folder's, NAME-HASH
  std::string at;                   ///< when it was frozen, UTC
  std::size_t shared = 0;           ///< how many runs
  std::vector<std::string> changes; ///< "margin none -> 0.01": what the later plan has otherwise
};

/// What `later` asks otherwise than `earlier`, in words: seeds, arms, metrics, margin, test, learned.
std::vector<std::string> plan_changes(const Plan& earlier, const Plan& later);

/// The sweeps in OUT that were frozen before the plan and have runs of its, the earliest first. None where the plan
/// doesn't say when it was frozen. A plan that can't be read is left out.
std::vector<EarlierSweep> earlier_sweeps(const Plan& plan, const std::filesystem::path& out);

} // namespace heed
