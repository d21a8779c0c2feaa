// The runs of a report that failed or are left out, grouped by arm and reason.
#pragma once

#include "experiments/report/report_data.hpp"

#include <string>
#include <vector>

namespace heed {

/// Runs of an arm with the same state and the same reason. Reasons that differ only in numbers, such as the step, count
/// as the same.
struct ProblemGroup {
  const ReportArm* arm = nullptr;
  std::vector<const ReportRun*> runs;

  std::string state() const { return std::string(runs.front()->status()); }
  /// "loss is nan at step 12 (the first of 3; the others differ in numbers only)"
  std::string reason() const;
  /// "seed 3" or "seeds 0, 1, 3"
  std::string seeds() const;
  /// "run 3f2a" or "runs 3f2a, 81b0"; `shown` formats each ID.
  std::string ids(std::string (*shown)(const std::string&)) const;
};

/// In the order of the arms and of their seeds.
std::vector<ProblemGroup> problem_groups(const ReportData& report);

/// After a sweep was executed: why its results are not complete, and what to do; the command that the words end with
/// follows them, the reasons of the runs precede them. Empty if all runs finished and can be used.
/// @param failed   number of runs that failed now
/// @param missing  number of runs that had finished now and no longer count as finished, trials too
std::string shortfall_in_words(const ReportData& report, std::size_t failed, std::size_t missing);

} // namespace heed
