// One answer over several tasks: error rates of both questions, what the sentence says if one task has an effect, and
// how often the approximate intervals hold. Prints tables as comments and a TAP point for each guarantee. 400 tables of
// each kind, or 10,000 if HEED_LONG is in the environment.
#include "experiments/statistics/over_tasks.hpp"

#include "experiments/report/over_tasks.hpp"
#include "tests/simulation/answers.hpp"
#include "tests/simulation/results.hpp"
#include "tests/simulation/sweeps.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <numbers>
#include <string>
#include <vector>

namespace {

using namespace heed::simulation;
using heed::RandomSource;
namespace statistics = heed::statistics;
using statistics::TaskResults;
using statistics::TaskScope;

const std::size_t tables = std::getenv("HEED_LONG") != nullptr ? 10'000 : 400;

/// A simulated table: arms in tasks. The runs of a seed share its effect in a task, and a part of it in all tasks.
struct Tasks {
  Shape shape;
  std::size_t tasks, seeds, arms;
  bool common_seeds = true;
  /// The effect of an arm in each task: a draw with this standard deviation, in those of a difference.
  double between = 0;
  bool sums_to_zero = false; ///< the effects of an arm are moved, so that their mean over these tasks is 0

  RandomSource random(std::size_t table) const {
    return RandomSource({0x6f766572ULL + shape.number * 1'000'003 + tasks * 10'007 + seeds * 101 + arms * 11 +
                             common_seeds + static_cast<std::uint64_t>(between * 8) * 7'919 + sums_to_zero * 104'729,
                         heed::Stream::test, table});
  }
};

struct Drawn {
  TaskResults reference;
  std::vector<TaskResults> arms;
};

Drawn draw(const Tasks& of, std::size_t table) {
  RandomSource random = of.random(table);
  std::vector<double> everywhere; // of a seed, in all tasks
  for (std::size_t s = 0; s < of.seeds; ++s) everywhere.push_back(random.normal());
  std::vector<std::vector<double>> effects(of.arms, std::vector<double>(of.tasks));
  for (std::vector<double>& arm : effects) {
    double sum = 0;
    for (double& x : arm) sum += x = of.between > 0 ? of.between * deviation * of.shape.draw(random) : 0;
    for (double& x : arm) x -= of.sums_to_zero ? sum / static_cast<double>(of.tasks) : 0;
  }
  Drawn out{TaskResults(of.tasks), std::vector<TaskResults>(of.arms, TaskResults(of.tasks))};
  for (std::size_t g = 0; g < of.tasks; ++g) {
    const double level = static_cast<double>(g); // tasks are of different difficulty
    for (std::size_t s = 0; s < of.seeds; ++s) {
      const auto seed = static_cast<std::int64_t>(of.common_seeds ? s : g * of.seeds + s);
      const double shared = level + random.normal() + (of.common_seeds ? everywhere[s] : 0);
      const auto add = [&](TaskResults& to, double effect) {
        to[g].seeds.push_back(seed);
        to[g].values.push_back(shared + effect + of.shape.draw(random));
      };
      add(out.reference, 0);
      for (std::size_t arm = 0; arm < of.arms; ++arm) add(out.arms[arm], effects[arm][g]);
    }
  }
  return out;
}

Drawn moved_all(Drawn table, double effect) {
  for (TaskResults& arm : table.arms)
    for (SeedValues& task : arm)
      for (double& x : task.values) x += effect * deviation;
  return table;
}

std::vector<SeedDifferences> differences_over(const Drawn& table, TaskScope scope, bool common_seeds) {
  const statistics::ValuesOverTasks values = statistics::values_over_tasks(table.reference, table.arms, scope,
                                                                           common_seeds);
  std::vector<SeedDifferences> out;
  for (std::size_t a = 0; a < table.arms.size(); ++a)
    out.push_back(differences_of(values.values[2 * a + 1], values.values[2 * a]));
  return out;
}

bool is_small(double p) { return p <= significance_level; }

/// Whether all joint intervals hold 0. An end at 0 may have been moved there, so no arm may differ.
bool all_hold(const std::vector<SeedDifferences>& differences, const std::vector<double>& p) {
  const auto intervals = flip_intervals(differences).together;
  return std::ranges::none_of(p, is_small) &&
         std::ranges::all_of(intervals, [](const auto& interval) { return holds(interval, 0); });
}

void error_cell(Points& points, Table& table, const Tasks& of, TaskScope scope) {
  Rate any_false, all_intervals, power;
  // Intervals of many signs take ten times as long as p.
  const std::size_t intervals_of = differences_over(draw(of, 0), scope, of.common_seeds)[0].values.size() > 9 ? 400
                                                                                                              : tables;
  for (std::size_t number = 0; number < tables; ++number) {
    const Drawn none = draw(of, number);
    const std::vector<SeedDifferences> differences = differences_over(none, scope, of.common_seeds);
    const std::vector<double> p = step_down_flips(differences).p;
    any_false.add(std::ranges::any_of(p, is_small));
    if (number < intervals_of) all_intervals.add(all_hold(differences, p));
    const std::vector<double> moved = step_down_flips(differences_over(moved_all(none, 1), scope, of.common_seeds)).p;
    power.add(static_cast<double>(std::ranges::count_if(moved, is_small)) / static_cast<double>(moved.size()));
  }
  const bool alike = scope == TaskScope::like_these;
  const std::string effects = of.sums_to_zero   ? fmt::format("{:g}, mean 0 over these tasks", of.between)
                              : of.between == 0 ? "none"
                                                : fmt::format("{:g}", of.between);
  table.row({alike             ? "tasks like these"
             : of.common_seeds ? "these tasks"
                               : "these tasks, other seeds",
             of.shape.name, fmt::to_string(of.tasks), fmt::to_string(of.seeds), fmt::to_string(of.arms), effects},
            {any_false, all_intervals, power});
  const std::string name = fmt::format("{}{}, {} noise, {} tasks, {} seeds, {} arms, effects {}",
                                       alike ? "tasks like these" : "these tasks",
                                       of.common_seeds ? "" : " with seeds of their own", of.shape.name, of.tasks,
                                       of.seeds, of.arms, effects);
  if (!of.shape.symmetric && of.arms > 1) return; // no guarantee
  if (!of.shape.symmetric && of.between > 0) return;
  points.at_most(0.05, any_false, name + ": any false difference");
  points.at_least(0.95, all_intervals, name + ": all intervals hold");
}

void errors(Points& points) {
  Table table({"question", "noise", "tasks", "seeds", "arms", "effects of an arm over the tasks",
               "any false difference", "all intervals hold", "found, effect 1 in all tasks"});
  for (const Shape& shape : {normal_noise, heavy_noise, skewed_noise})
    for (const std::size_t tasks : {3, 6, 12})
      for (const std::size_t arms : {1, 3}) {
        error_cell(points, table, {shape, tasks, 6, arms}, TaskScope::these);
        if (shape.number == skewed_noise.number && arms > 1) continue;
        if (tasks >= 6) error_cell(points, table, {shape, tasks, 6, arms, true, 1}, TaskScope::like_these);
      }
  // Effects that cancel out over these tasks are no difference over them.
  for (const std::size_t tasks : {3, 6, 12})
    for (const std::size_t arms : {1, 3})
      error_cell(points, table, {normal_noise, tasks, 6, arms, true, 1, true}, TaskScope::these);
  for (const std::size_t tasks : {3, 6}) {
    error_cell(points, table, {normal_noise, tasks, 3, 2, false}, TaskScope::these);
    error_cell(points, table, {normal_noise, tasks, 3, 1, false, 1, true}, TaskScope::these);
  }
  table.print();
}

/// A report of five tasks, in the first of which the arm has an effect.
heed::ReportData report_of_tasks(const Drawn& drawn, double effect_of_first) {
  heed::ReportData report = report_of({{}});
  report.arms.clear();
  report.within.push_back({"task", "task"});
  report.over = heed::OverTasks{};
  const auto add = [&](std::size_t task, const char* name, const SeedValues& of, double moved, std::size_t reference) {
    heed::ReportArm& arm = report.arms.emplace_back();
    arm.group = {fmt::to_string(task)};
    arm.name = name;
    arm.label = fmt::format("task = {}: {}", task, name);
    arm.reference = reference;
    for (std::size_t i = 0; i < of.values.size(); ++i) {
      heed::ReportRun& run = arm.runs.emplace_back();
      run.seed = of.seeds[i];
      run.state = heed::RunState::finished;
      run.value = of.values[i] + moved;
    }
  };
  for (std::size_t g = 0; g < drawn.reference.size(); ++g) {
    const std::size_t reference = report.arms.size();
    add(g, "reference", drawn.reference[g], 0, reference);
    add(g, "gated", drawn.arms[0][g], g == 0 ? effect_of_first * deviation : 0, reference);
  }
  report.seeds = drawn.reference[0].seeds;
  return report;
}

void one_of_five(Points& points) {
  constexpr double effect = 3; // d_z
  Table table({"one task of 5 has an effect of 3 d_z", "seeds", "the sentence says \"in 1 of 5\"", "\"in 0 of 5\"",
               "more than 1", "a difference over all 5"});
  for (const std::size_t seeds : {7, 8}) {
    Rate one, none, more, over_all;
    // From 8 seeds on, there are bootstraps as well, which take most of the time.
    const std::size_t reports = seeds < statistics::fewest_bootstrap_runs ? tables
                                                                          : std::min<std::size_t>(tables, 2000);
    for (std::size_t number = 0; number < reports; ++number) {
      const heed::ReportData report = answered(report_of_tasks(draw({normal_noise, 5, seeds, 1}, number), effect));
      const std::string sentence = heed::sentences_over_tasks(report).front();
      const auto says = [&](const char* words) { return sentence.find(words) != std::string::npos; };
      one.add(says(" in 1 of 5 tasks"));
      none.add(says(" in 0 of 5 tasks"));
      more.add(says("etter in 2 of 5") || says("etter in 3 of 5") || says("etter in 4 of 5") ||
               says("etter in 5 of 5"));
      over_all.add(report.overall->arms[1].comparison->answer == Answer::differs);
    }
    table.row({"normal", fmt::to_string(seeds)}, {one, none, more, over_all});
    points.at_least(0.94, one,
                    fmt::format("an effect of 3 in one task of 5, {} seeds: the sentence says in 1 of 5", seeds));
  }
  table.print();
}

/// Approximate intervals: how often they hold the truth, which is known of normal values.
void bootstraps(Points& points) {
  Table table({"tasks", "runs of a task", "interquartile mean", "probability of improvement",
               "profile at a threshold"});
  for (const std::size_t tasks : {3, 6})
    for (const std::size_t runs : {8, 16}) {
      Rate mean, improvement, profile;
      for (std::size_t number = 0; number < std::min<std::size_t>(tables, 2000); ++number) {
        RandomSource random({0x626f6f74ULL + tasks * 101 + runs, heed::Stream::test, number});
        statistics::TaskRuns arm(tasks), reference(tasks);
        for (std::size_t g = 0; g < tasks; ++g)
          for (std::size_t i = 0; i < runs; ++i) {
            arm[g].push_back(random.normal() + 1);
            reference[g].push_back(random.normal());
          }
        constexpr std::uint64_t draws = 2000;
        mean.add(holds(statistics::interquartile_over_tasks(arm, 0.95, draws).interval, 1));
        const double truth = 0.5 * std::erfc(-1 / deviation / std::numbers::sqrt2); // P(N(1, 2) > 0)
        improvement.add(holds(statistics::improvement_over_tasks(arm, reference, true, 0.95, draws).interval, truth));
        profile.add(holds(
            statistics::performance_profile(arm, std::vector<double>{1.0}, true, 0.95, draws).front().interval, 0.5));
      }
      table.row({fmt::to_string(tasks), fmt::to_string(runs)}, {mean, improvement, profile});
      const std::string name = fmt::format("{} tasks, {} runs: ", tasks, runs);
      points.at_least(0.90, mean, name + "the interval of the interquartile mean holds");
      points.at_least(0.88, improvement, name + "the interval of the probability of improvement holds");
      points.at_least(0.90, profile, name + "the band of a profile holds at a threshold");
    }
  table.print();
}

} // namespace

int main() {
  Points points;
  fmt::print("# | {} tables of each kind; per cent ± a standard error |\n#\n", tables);
  errors(points);
  one_of_five(points);
  bootstraps(points);
  return points.finish();
}
