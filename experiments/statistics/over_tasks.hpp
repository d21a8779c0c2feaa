// One answer over several tasks: values over tasks, which the tests of one task can compare; and, as rliable has them,
// the interquartile mean, the probability of improvement and performance profiles (Agarwal et al. 2021, arXiv
// 2108.13264).
#pragma once

#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/summary.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heed::statistics {

/// What an answer over tasks holds for. these: the tasks that were run, and other seeds. like_these: other tasks, of
/// which these are a sample (Demsar 2006, Journal of Machine Learning Research 7, asks this by ranks).
enum class TaskScope { these, like_these };

/// Over fewer tasks, no answer for tasks like these is given: with 6 tasks, flips by task can reach 5 %.
inline constexpr std::size_t fewest_tasks_alike = 6;

/// An arm's results in each task, in units that can be added up over the tasks.
using TaskResults = std::vector<SeedValues>;

/// For each arm two sets of values that `compare_each` compares: the reference's, and the arm's. A reference has its
/// own set for each arm, because it is used only with the seeds that the arm has, too.
struct ValuesOverTasks {
  std::vector<SeedValues> values; ///< reference and arm, alternately
  std::vector<std::size_t> reference_of;
};

/// With pairs of the seeds that the arm and the reference have in a task, and G tasks:
///     these, common seeds:  for each seed that all tasks have, the mean over the tasks of x_gs
///     these, other seeds:   for each task g and seed s, x_gs N / (G n_g), with n_g of N pairs in the task; so the mean
///                           over all pairs is the mean over the tasks of their means
///     like_these:           for each task, the mean over its pairs of x_gs
/// An arm without a pair in some task has no values.
/// @param arms  each arm's results in each task
/// @param common_seeds  the same seed was used in all tasks; its runs can depend on each other
ValuesOverTasks values_over_tasks(const TaskResults& reference, std::span<const TaskResults> arms, TaskScope tasks,
                                  bool common_seeds);

/// The values of an arm's runs in each task.
using TaskRuns = std::vector<std::vector<double>>;

/// From this number of runs in each task, the bootstraps below are stated.
inline constexpr std::size_t fewest_bootstrap_runs = 8;
/// Whether each task has that many runs.
bool has_bootstrap_runs(const TaskRuns& runs);

/// The interquartile mean of all runs of all tasks. The interval is a stratified percentile bootstrap: each draw
/// resamples the runs within each task. It is approximate: with few runs, it is too narrow.
/// The draws depend only on the numbers of runs. Throws heed::Failed for a task without runs.
Estimate interquartile_over_tasks(const TaskRuns& runs, double confidence = 0.95, std::uint64_t draws = 10'000);

/// The mean over the tasks of P(arm's run is better than the reference's run), over all pairs of runs in the task; ties
/// count half. The interval is such a bootstrap, in which the runs of the arm and of the reference are resampled
/// independently. Throws heed::Failed for a task without runs, and for other numbers of tasks.
Estimate improvement_over_tasks(const TaskRuns& arm, const TaskRuns& reference, bool higher_is_better,
                                double confidence = 0.95, std::uint64_t draws = 10'000);

/// For each threshold tau, the share of the runs of all tasks whose value is above tau (below, if lower is better),
/// with such a bootstrap's interval for this threshold only.
std::vector<Estimate> performance_profile(const TaskRuns& runs, std::span<const double> thresholds,
                                          bool higher_is_better, double confidence = 0.95,
                                          std::uint64_t draws = 10'000);

} // namespace heed::statistics
