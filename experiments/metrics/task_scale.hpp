// What an answer over several tasks is asked with ([report] over, scale), and the checks that sweeps and tables share.
#pragma once

#include "experiments/metrics/metric.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace heed {

/// An answer over tasks, and what it is asked of.
struct OverTasksQuestion {
  std::string over = "none";    ///< none | these tasks | tasks like these
  std::string scale = "metric"; ///< metric | chance to best | a number above 0 for each task: "0.2, 1.5"
  std::size_t tasks = 1;
  bool unpaired = false, not_worse = false; ///< the runs are compared without pairs; the question is *not worse*
  // What messages call the options, with their places: "report.over (copy.toml:7:8)".
  std::string given_over, given_scale;
  std::string groups; ///< the option that makes tasks: "sweep.within"
};

/// The numbers of a scale; none for a word. Throws heed::Refused, with `given` in front, for any other text.
std::vector<double> units_of_scale(const std::string& scale, const std::string& given);

/// Throws heed::Refused if this can't be asked: fewer tasks than it takes, runs without pairs, a metric whose values
/// can't be added up over the tasks, a scale that the metric does not have or whose numbers are not those of the tasks,
/// and a scale without anything that it is for.
void require_over_tasks(const OverTasksQuestion& question, const Metric& metric);

} // namespace heed
