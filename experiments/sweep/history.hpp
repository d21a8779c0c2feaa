// The history of an output folder: earlier sweeps that share runs with a plan, whose results may have been known when
// the plan was made; and which runs of a sweep have finished, so that a report can distinguish a removed run from a
// future one.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <boost/describe/class.hpp>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace heed {

/// An earlier sweep that shares runs with the plan.
struct EarlierSweep {
  std::string name;                 ///< the name of its folder, NAME-HASH
  std::string at;                   ///< when it was frozen, UTC
  std::size_t shared = 0;           ///< number of shared runs
  std::vector<std::string> changes; ///< "margin none -> 0.01": how the later plan differs
};
BOOST_DESCRIBE_STRUCT(EarlierSweep, (), (name, at, shared, changes))

/// The differences from `earlier` to `later`, in words: seeds, arms, metrics, margin, answer, test, over, learned.
std::vector<std::string> plan_changes(const Plan& earlier, const Plan& later);

/// The sweeps in OUT that were frozen before the plan and share runs with it, the earliest first. Empty if the plan
/// does not record when it was frozen. Unreadable plans are skipped.
std::vector<EarlierSweep> earlier_sweeps(const Plan& plan, const std::filesystem::path& out);

/// The run IDs in FOLDER/finished.txt, one on each line; empty if there is no such file, or it cannot be read.
std::set<std::string> recorded_as_finished(const std::filesystem::path& folder);

/// Adds the plan's finished runs to FOLDER/finished.txt. Writes nothing if the file already contains all of them.
/// Throws heed::Failed.
void record_finished(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder);

} // namespace heed
