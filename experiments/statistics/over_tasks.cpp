#include "experiments/statistics/over_tasks.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/bootstrap.hpp"
#include "experiments/statistics/pairs.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace heed::statistics {

namespace {

/// The pairs of a task: value of the arm and of the reference, by seed.
using TaskPairs = std::map<std::int64_t, std::pair<double, double>>;

TaskPairs pairs_of(const SeedValues& arm, const SeedValues& reference) {
  const SeedPlaces places(reference);
  TaskPairs out;
  for (std::size_t i = 0; i < arm.seeds.size(); ++i)
    if (const auto place = places.of(arm.seeds[i]))
      out.emplace(arm.seeds[i], std::pair(arm.values[i], reference.values[*place]));
  return out;
}

void add(std::int64_t seed, double of_arm, double of_reference, SeedValues& arm, SeedValues& reference) {
  arm.seeds.push_back(seed);
  arm.values.push_back(of_arm);
  reference.seeds.push_back(seed);
  reference.values.push_back(of_reference);
}

/// Numbers for seeds of tasks, the same for all arms.
using TaskSeeds = std::map<std::pair<std::size_t, std::int64_t>, std::int64_t>;

TaskSeeds numbered(const TaskResults& reference) {
  TaskSeeds out;
  for (std::size_t g = 0; g < reference.size(); ++g)
    for (const std::int64_t seed : reference[g].seeds)
      out.emplace(std::pair(g, seed), static_cast<std::int64_t>(out.size()));
  return out;
}

void by_seed(const std::vector<TaskPairs>& tasks, SeedValues& arm, SeedValues& reference) {
  const auto count = static_cast<double>(tasks.size());
  for (const auto& [seed, first] : tasks.front()) {
    double a = 0, b = 0;
    const bool everywhere = std::ranges::all_of(tasks, [&, seed = seed](const TaskPairs& task) {
      const auto found = task.find(seed);
      if (found == task.end()) return false;
      a += found->second.first;
      b += found->second.second;
      return true;
    });
    if (everywhere) add(seed, a / count, b / count, arm, reference);
  }
}

void by_task_and_seed(const std::vector<TaskPairs>& tasks, const TaskSeeds& numbers, SeedValues& arm,
                      SeedValues& reference) {
  std::size_t all = 0;
  for (const TaskPairs& task : tasks) all += task.size();
  for (std::size_t g = 0; g < tasks.size(); ++g) {
    const double weight = static_cast<double>(all) / static_cast<double>(tasks.size() * tasks[g].size());
    for (const auto& [seed, values] : tasks[g])
      add(numbers.at({g, seed}), values.first * weight, values.second * weight, arm, reference);
  }
}

void by_task(const std::vector<TaskPairs>& tasks, SeedValues& arm, SeedValues& reference) {
  for (std::size_t g = 0; g < tasks.size(); ++g) {
    double a = 0, b = 0;
    for (const auto& [seed, values] : tasks[g]) {
      a += values.first;
      b += values.second;
    }
    const auto n = static_cast<double>(tasks[g].size());
    add(static_cast<std::int64_t>(g), a / n, b / n, arm, reference);
  }
}

// For every stratified bootstrap; its value is arbitrary.
constexpr std::uint64_t seed_of_draws = 0x6865'6564'7461'736b;

void check_runs(const TaskRuns& runs) {
  if (runs.empty() || std::ranges::any_of(runs, [](const auto& task) { return task.empty(); }))
    throw Failed("[statistics] a statistic over tasks needs a run in each of them");
}

std::size_t count_of(const TaskRuns& runs) {
  std::size_t out = 0;
  for (const std::vector<double>& task : runs) out += task.size();
  return out;
}

/// Calls `take(draw, task, place)` for each run that a draw takes: as many of each task as it has.
/// @param first  the position of the first random number, so that other draws can be independent of these
template <class Take> void resample(const TaskRuns& runs, const RandomKey& key, std::uint64_t first, const Take& take) {
  for (std::size_t g = 0; g < runs.size(); ++g) {
    const std::size_t n = runs[g].size();
    for (std::size_t i = 0; i < n; ++i) take(g, static_cast<std::size_t>(below(key, first++, n)));
  }
}

Interval percentiles(std::vector<double> drawn, double confidence) {
  std::ranges::sort(drawn);
  return {quantile_of_sorted(drawn, (1 - confidence) / 2), quantile_of_sorted(drawn, (1 + confidence) / 2)};
}

/// The distinct values in increasing order, and the place of each run's value among them.
struct Ranked {
  std::vector<double> values;
  std::vector<std::vector<std::size_t>> places;
};

Ranked ranked(const TaskRuns& runs) {
  Ranked out;
  for (const std::vector<double>& task : runs) out.values.insert(out.values.end(), task.begin(), task.end());
  std::ranges::sort(out.values);
  out.values.erase(std::unique(out.values.begin(), out.values.end()), out.values.end());
  for (const std::vector<double>& task : runs) {
    std::vector<std::size_t>& places = out.places.emplace_back();
    for (const double x : task)
      places.push_back(static_cast<std::size_t>(std::ranges::lower_bound(out.values, x) - out.values.begin()));
  }
  return out;
}

/// How often the arm is better, from the counts of its runs and the reference's at each value of a task.
double share_above(const std::vector<std::uint32_t>& arm, const std::vector<std::uint32_t>& reference, double pairs) {
  double better = 0, below = 0; // below: runs of the reference with a smaller value
  for (std::size_t v = 0; v < arm.size(); ++v) {
    better += arm[v] * (below + 0.5 * reference[v]);
    below += reference[v];
  }
  return better / pairs;
}

} // namespace

ValuesOverTasks values_over_tasks(const TaskResults& reference, std::span<const TaskResults> arms, TaskScope tasks,
                                  bool common_seeds) {
  ValuesOverTasks out;
  const TaskSeeds numbers = numbered(reference);
  for (const TaskResults& arm : arms) {
    poll_caller();
    if (arm.size() != reference.size())
      throw Failed(fmt::format("[statistics] an arm has results of {} tasks, and its reference of {}", arm.size(),
                               reference.size()));
    std::vector<TaskPairs> pairs;
    for (std::size_t g = 0; g < arm.size(); ++g) pairs.push_back(pairs_of(arm[g], reference[g]));
    SeedValues of_arm, of_reference;
    if (!pairs.empty() && std::ranges::none_of(pairs, [](const TaskPairs& task) { return task.empty(); })) {
      if (tasks == TaskScope::like_these) by_task(pairs, of_arm, of_reference);
      else if (common_seeds) by_seed(pairs, of_arm, of_reference);
      else by_task_and_seed(pairs, numbers, of_arm, of_reference);
    }
    const std::size_t place = out.values.size();
    out.values.push_back(std::move(of_reference));
    out.values.push_back(std::move(of_arm));
    out.reference_of.insert(out.reference_of.end(), {place, place});
  }
  return out;
}

bool has_bootstrap_runs(const TaskRuns& runs) {
  return !runs.empty() &&
         std::ranges::all_of(runs, [](const auto& task) { return task.size() >= fewest_bootstrap_runs; });
}

Estimate interquartile_over_tasks(const TaskRuns& runs, double confidence, std::uint64_t draws) {
  check_confidence(confidence);
  check_runs(runs);
  std::vector<double> all;
  for (const std::vector<double>& task : runs) all.insert(all.end(), task.begin(), task.end());
  const Ranked order = ranked(runs);
  std::vector<std::uint32_t> counts(order.values.size());
  std::vector<double> sorted(all.size()), drawn;
  PolledWork work;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    work.did(12 * all.size());
    std::ranges::fill(counts, std::uint32_t{0});
    resample(runs, {seed_of_draws, Stream::sampling, draw}, 0,
             [&](std::size_t task, std::size_t run) { ++counts[order.places[task][run]]; });
    double* to = sorted.data();
    for (std::size_t v = 0; v < counts.size(); ++v) to = std::fill_n(to, counts[v], order.values[v]);
    drawn.push_back(interquartile_mean_of_sorted(sorted));
  }
  return {interquartile_mean(all), percentiles(std::move(drawn), confidence)};
}

Estimate improvement_over_tasks(const TaskRuns& arm, const TaskRuns& reference, bool higher_is_better,
                                double confidence, std::uint64_t draws) {
  check_confidence(confidence);
  check_runs(arm);
  check_runs(reference);
  if (arm.size() != reference.size())
    throw Failed(fmt::format("[statistics] the probability of improvement is of the same tasks: {} and {}", arm.size(),
                             reference.size()));
  const std::size_t tasks = arm.size(), runs = count_of(arm) + count_of(reference);
  struct Task {
    Ranked order; ///< places[0] are those of the arm's runs, places[1] the reference's
    std::vector<std::uint32_t> arm, reference;
  };
  std::vector<Task> of(tasks);
  for (std::size_t g = 0; g < tasks; ++g) {
    of[g].order = ranked({arm[g], reference[g]});
    of[g].arm.resize(of[g].order.values.size());
    of[g].reference.resize(of[g].order.values.size());
  }
  const auto share = [&] { // from the counts, and empties them
    double sum = 0;
    for (std::size_t g = 0; g < tasks; ++g) {
      sum += share_above(of[g].arm, of[g].reference, static_cast<double>(arm[g].size() * reference[g].size()));
      std::ranges::fill(of[g].arm, std::uint32_t{0});
      std::ranges::fill(of[g].reference, std::uint32_t{0});
    }
    const double above = sum / static_cast<double>(tasks);
    return higher_is_better ? above : 1 - above;
  };
  for (Task& task : of) {
    for (const std::size_t place : task.order.places[0]) ++task.arm[place];
    for (const std::size_t place : task.order.places[1]) ++task.reference[place];
  }
  const double observed = share();
  std::vector<double> drawn;
  PolledWork work;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    work.did(12 * runs);
    const RandomKey key{seed_of_draws, Stream::sampling, draw};
    resample(arm, key, 0, [&](std::size_t g, std::size_t run) { ++of[g].arm[of[g].order.places[0][run]]; });
    resample(reference, key, count_of(arm),
             [&](std::size_t g, std::size_t run) { ++of[g].reference[of[g].order.places[1][run]]; });
    drawn.push_back(share());
  }
  return {observed, percentiles(std::move(drawn), confidence)};
}

std::vector<Estimate> performance_profile(const TaskRuns& runs, std::span<const double> thresholds,
                                          bool higher_is_better, double confidence, std::uint64_t draws) {
  check_confidence(confidence);
  check_runs(runs);
  const Ranked order = ranked(runs);
  const std::size_t all = count_of(runs);
  // In steps from the best value on: of how many values, in order, a threshold counts the runs.
  std::vector<std::size_t> ends;
  for (const double tau : thresholds)
    ends.push_back(static_cast<std::size_t>(higher_is_better
                                                ? order.values.end() - std::ranges::upper_bound(order.values, tau)
                                                : std::ranges::lower_bound(order.values, tau) - order.values.begin()));
  std::vector<std::uint32_t> counts(order.values.size());
  std::vector<double> shares(counts.size() + 1);
  const auto take = [&] { // from the counts, and empties them
    std::size_t sum = 0;
    for (std::size_t v = 0; v < counts.size(); ++v) {
      sum += counts[higher_is_better ? counts.size() - 1 - v : v];
      shares[v + 1] = static_cast<double>(sum) / static_cast<double>(all);
    }
    std::ranges::fill(counts, std::uint32_t{0});
  };
  for (const std::vector<std::size_t>& task : order.places)
    for (const std::size_t place : task) ++counts[place];
  take();
  std::vector<Estimate> out;
  for (const std::size_t end : ends) out.push_back({shares[end], {}});
  std::vector<std::vector<double>> drawn(thresholds.size());
  PolledWork work;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    work.did(10 * all + 2 * thresholds.size());
    resample(runs, {seed_of_draws, Stream::sampling, draw}, 0,
             [&](std::size_t task, std::size_t run) { ++counts[order.places[task][run]]; });
    take();
    for (std::size_t t = 0; t < ends.size(); ++t) drawn[t].push_back(shares[ends[t]]);
  }
  for (std::size_t t = 0; t < out.size(); ++t) out[t].interval = percentiles(std::move(drawn[t]), confidence);
  return out;
}

} // namespace heed::statistics
