#include "experiments/command_line/run_needs.hpp"

#include "experiments/command_line/plan_estimate.hpp"

#include <algorithm>

namespace heed {

RunNeed RunNeeds::of(const RunFolder& run) {
  if (!measured_) measure();
  const auto known = seconds_.find(run.id());
  return {known == seconds_.end() ? longest_ : known->second, bytes_};
}

void RunNeeds::measure() {
  const Estimate measured = estimate(prepared_, tasks_, out_, 1, threads_, true);
  for (const EstimatedRun& run : measured.runs) {
    if (!run.run->id.empty()) seconds_[run.run->id] = run.seconds;
    longest_ = std::max(longest_, run.seconds); // used for a replicate whose arm is not tuned yet
  }
  bytes_ = measured.bytes;
  measured_ = true;
}

} // namespace heed
