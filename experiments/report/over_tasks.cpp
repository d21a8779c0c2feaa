#include "experiments/report/over_tasks.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/statistics/corrections.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace heed {

namespace {

using statistics::SeedValues;
using statistics::TaskResults;
using statistics::TaskScope;

/// A task: its reference and its arms by name.
struct TaskArms {
  const ReportArm* reference = nullptr;
  std::map<std::string, const ReportArm*> arms;
  std::string label;
};

std::vector<TaskArms> tasks_of(const ReportData& report) {
  std::vector<TaskArms> out;
  std::map<std::size_t, std::size_t> places; // by the index of the reference
  for (const ReportArm& arm : report.arms) {
    const auto [place, is_new] = places.emplace(arm.reference, out.size());
    if (is_new) out.push_back({&report.arms[arm.reference], {}, report.group_label(arm)});
    if (!report.is_reference(arm)) out[place->second].arms.emplace(arm.true_name(), &arm);
  }
  return out;
}

/// The arms' names, in the order in which the report has them first.
std::vector<const ReportArm*> first_of_each_name(const ReportData& report) {
  std::vector<const ReportArm*> out;
  std::set<std::string> seen;
  for (const ReportArm& arm : report.arms)
    if (!report.is_reference(arm) && seen.insert(arm.true_name()).second) out.push_back(&arm);
  return out;
}

/// Converts values of a task to the scale of all tasks.
class TaskScale {
public:
  /// Throws a text for readers if the scale of a task is not known.
  TaskScale(const ReportData& report, const std::vector<TaskArms>& tasks)
      : report_(report), over_(*report.over), tasks_(tasks) {}

  /// Why values of some task have no place on the scale; empty otherwise.
  std::string problem() const {
    if (!over_.is_own_metric() && !over_.is_from_chance() && over_.units.size() != tasks_.size())
      return fmt::format("the scale has {} numbers, and there are {} tasks", over_.units.size(), tasks_.size());
    if (!over_.is_from_chance()) return "";
    for (const TaskArms& task : tasks_)
      if (!share_of_way(report_, *task.reference, 0))
        return fmt::format("what guessing reaches, or the best value, is not known at {}", task.label);
    return "";
  }

  double of(double value, std::size_t task) const {
    if (over_.is_own_metric()) return value;
    if (over_.is_from_chance()) return *share_of_way(report_, *tasks_[task].reference, value);
    return value / over_.units[task];
  }

  Metric metric() const {
    Metric out = report_.metric;
    if (over_.is_own_metric()) return out;
    out.low = -std::numeric_limits<double>::infinity();
    out.high = std::numeric_limits<double>::infinity();
    const char* of = over_.is_from_chance() ? " from chance (0) to best (1)" : " in the tasks' units";
    out.name += of;
    if (!out.label.empty()) out.label += of;
    out.unit.clear();
    if (over_.is_from_chance()) out.direction = Direction::higher;
    return out;
  }

  /// The width of the range of a mean over the tasks.
  std::optional<double> range() const {
    if (!report_.metric.has_upper_bound() || over_.is_from_chance()) return std::nullopt;
    double sum = 0;
    for (std::size_t g = 0; g < tasks_.size(); ++g)
      sum += (report_.metric.high - report_.metric.low) / (over_.is_own_metric() ? 1 : over_.units[g]);
    return sum / static_cast<double>(tasks_.size());
  }

private:
  const ReportData& report_;
  const OverTasks& over_;
  const std::vector<TaskArms>& tasks_;
};

/// The arm's results in each task, on the scale, of its first `seeds` runs.
/// @param rounding  receives the most that a value is off by rounding
TaskResults results_in(const std::vector<const ReportArm*>& arm, const TaskScale& scale, std::size_t seeds,
                       double resolution, double& rounding) {
  TaskResults out(arm.size());
  for (std::size_t g = 0; g < arm.size(); ++g)
    for (const ReportRun& run : std::span(arm[g]->runs).first(std::min(seeds, arm[g]->runs.size()))) {
      if (run.is_left_out() || !run.value) continue;
      out[g].seeds.push_back(run.seed);
      out[g].values.push_back(scale.of(*run.value, g));
      const double moved = scale.of(*run.value * (1 + resolution), g);
      rounding = std::max(rounding, std::abs(moved - out[g].values.back()));
    }
  return out;
}

bool has_all(const TaskResults& results) {
  return std::ranges::none_of(results, [](const SeedValues& of) { return of.values.empty(); });
}

statistics::TaskRuns runs_of(const TaskResults& results) {
  statistics::TaskRuns out;
  for (const SeedValues& of : results) out.push_back(of.values);
  return out;
}

/// n, mean and spread: of the means over the tasks by seed, of the tasks' means, or of runs whose spread is not stated.
void describe(const TaskResults& results, const OverTasks& over, ReportArm& arm) {
  if (!has_all(results)) return;
  std::vector<double> means, values;
  std::size_t runs = 0;
  for (const SeedValues& of : results) {
    means.push_back(statistics::mean(of.values));
    runs += of.values.size();
  }
  if (over.tasks == TaskScope::like_these) values = means;
  else if (over.common_seeds)
    values =
        statistics::values_over_tasks(results, std::vector<TaskResults>{results}, over.tasks, true).values[1].values;
  arm.values = over.tasks == TaskScope::these && !over.common_seeds ? runs : values.size();
  arm.mean = statistics::mean(means);
  arm.standard_deviation = statistics::standard_deviation(values);
  arm.over_tasks->interquartile_mean = statistics::Estimate{};
  if (statistics::has_bootstrap_runs(runs_of(results)))
    arm.over_tasks->interquartile_mean = statistics::interquartile_over_tasks(runs_of(results));
  else {
    std::vector<double> all;
    for (const SeedValues& of : results) all.insert(all.end(), of.values.begin(), of.values.end());
    arm.over_tasks->interquartile_mean->value = statistics::interquartile_mean(all);
  }
  arm.interquartile_mean = arm.over_tasks->interquartile_mean->value;
}

/// From the least to the greatest value of all arms.
std::vector<double> thresholds_of(const std::vector<TaskResults>& results) {
  constexpr std::size_t most = 60;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const TaskResults& arm : results)
    for (const SeedValues& of : arm)
      for (const double x : of.values) {
        low = std::min(low, x);
        high = std::max(high, x);
      }
  std::vector<double> out;
  if (!(high > low)) return out;
  for (std::size_t i = 0; i <= most; ++i)
    out.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(most));
  return out;
}

/// Makes the report of the rows "all".
class Overall {
public:
  Overall(ReportData& report, const std::vector<TaskArms>& tasks)
      : report_(report), tasks_(tasks), scale_(report, tasks), over_(*report.over) {}

  std::shared_ptr<ReportData> made() {
    ReportData out;
    out.name = report_.name;
    out.labels = report_.labels;
    out.table = report_.table;
    out.metric = scale_.metric();
    if (over_.is_own_metric()) out.margin = report_.margin;
    if (out.margin) out.asked = report_.asked;
    out.test = report_.test;
    out.resolution = report_.resolution;
    out.seeds = report_.seeds;
    out.seeds.resize(std::min(out.seeds.size(), report_.seeds_looked_at())); // those of the rows
    out.is_overall = true;
    add_arm(out, *tasks_.front().reference, of_all(nullptr));
    for (const ReportArm* arm : first_of_each_name(report_))
      if (all_have(*arm)) add_arm(out, *arm, of_all(arm));
    if (out.arms.size() == 1) return nullptr;
    compare(out);
    for (std::size_t a = 0; a < out.arms.size(); ++a) {
      poll_caller();
      describe(last_[a], over_, out.arms[a]);
      if (a > 0) compare_runs(out, out.arms[a], last_[a]);
    }
    find_profiles(out);
    out.over = over_;
    return std::make_shared<ReportData>(std::move(out));
  }

private:
  /// The arm of this name in each task; the references for null.
  std::vector<const ReportArm*> of_all(const ReportArm* arm) const {
    std::vector<const ReportArm*> out;
    for (const TaskArms& task : tasks_) out.push_back(arm ? task.arms.at(arm->true_name()) : task.reference);
    return out;
  }

  bool all_have(const ReportArm& arm) {
    for (const TaskArms& task : tasks_) {
      const auto found = task.arms.find(arm.true_name());
      if (found != task.arms.end() && sees_alike(report_, *found->second)) continue;
      over_.lacking.push_back(found == task.arms.end()
                                  ? fmt::format("{} lacks {}", arm.short_label(), task.label)
                                  : fmt::format("{} can't be compared at {}", arm.short_label(), task.label));
      return false;
    }
    return true;
  }

  void add_arm(ReportData& to, const ReportArm& like, std::vector<const ReportArm*> in_tasks) {
    ReportArm& arm = to.arms.emplace_back();
    arm.name = like.short_label();
    arm.label = "all: " + arm.name;
    if (!like.own_name.empty()) {
      arm.own_name = like.own_name;
      arm.own_label = "all: " + like.own_name;
    }
    arm.changes = like.changes;
    ResultOverTasks& own = arm.over_tasks.emplace();
    for (const ReportArm* of : in_tasks)
      if (of->comparison) ++own.answers[std::string(name_of(answer_word(of->comparison, report_.metric)))];
    in_tasks_.push_back(std::move(in_tasks));
    for (const std::size_t which : std::set<std::size_t>{0, in_tasks_.size() - 1})
      for (const ReportArm* of : in_tasks_[which])
        own.excluded += static_cast<std::size_t>(std::ranges::count_if(report_.counted_runs(*of),
                                                                       &ReportRun::is_excluded));
  }

  /// Compares at each look so far, or once; what a look found stays.
  void compare(ReportData& out) {
    std::vector<std::size_t> looks = report_.looks;
    std::vector<double> levels = statistics::look_levels(looks);
    const std::size_t last = report_.seeds_looked_at();
    if (looks.empty() || over_.tasks == TaskScope::like_these) {
      looks = {std::numeric_limits<std::size_t>::max()};
      levels = {statistics::significance_level};
    } else std::erase_if(looks, [&](std::size_t look) { return look > last; });
    for (std::size_t k = 0; k < looks.size(); ++k) compare_first(out, looks[k], levels[k]);
  }

  void compare_first(ReportData& out, std::size_t seeds, double level) {
    double rounding = 0;
    last_.clear();
    for (const auto& arm : in_tasks_) last_.push_back(results_in(arm, scale_, seeds, report_.resolution, rounding));
    const statistics::ValuesOverTasks values = statistics::values_over_tasks(last_.front(), std::span(last_).subspan(1),
                                                                             over_.tasks, over_.common_seeds);
    const statistics::ComparisonRequest request{.higher_is_better = out.metric.higher_is_better(),
                                                .margin = out.margin,
                                                .range = scale_.range(),
                                                .resolution = report_.resolution,
                                                .rounding = over_.is_own_metric() ? 0 : rounding,
                                                .level = level,
                                                .question = out.asked};
    const std::vector<statistics::ComparisonRequest> requests(values.values.size(), request);
    const auto compared = statistics::compare_each(values.values, values.reference_of, requests);
    for (std::size_t a = 1; a < out.arms.size(); ++a) {
      ReportArm& arm = out.arms[a];
      if (arm.comparison && is_found(arm.comparison->answer)) continue;
      arm.comparison = compared[2 * a - 1];
      if (arm.comparison) arm.comparison->improvement.reset(); // that of the runs follows
      arm.look = report_.looks.empty() || over_.tasks == TaskScope::like_these ? 0 : seeds;
    }
  }

  void compare_runs(const ReportData& out, ReportArm& arm, const TaskResults& results) {
    const statistics::TaskRuns runs = runs_of(results), reference = runs_of(last_.front());
    if (!arm.comparison || !out.metric.is_goal() || !statistics::has_bootstrap_runs(runs) ||
        !statistics::has_bootstrap_runs(reference))
      return;
    arm.over_tasks->improvement = statistics::improvement_over_tasks(runs, reference, out.metric.higher_is_better());
    arm.comparison->improvement = arm.over_tasks->improvement;
  }

  /// Of the first arms: a figure has no room for more.
  void find_profiles(ReportData& out) {
    constexpr std::size_t most = 20;
    if (!out.metric.is_goal()) return;
    over_.thresholds = thresholds_of(last_);
    if (over_.thresholds.empty()) return;
    for (std::size_t a = 0; a < std::min(out.arms.size(), most); ++a)
      if (statistics::has_bootstrap_runs(runs_of(last_[a])))
        out.arms[a].over_tasks->profile = statistics::performance_profile(runs_of(last_[a]), over_.thresholds,
                                                                          out.metric.higher_is_better());
  }

  ReportData& report_;
  const std::vector<TaskArms>& tasks_;
  TaskScale scale_;
  OverTasks& over_;
  std::vector<std::vector<const ReportArm*>> in_tasks_; ///< of the reference, then of each arm
  std::vector<TaskResults> last_;                       ///< of the same, at the last look
};

bool have_common_seeds(const std::vector<TaskArms>& tasks) {
  const auto seeds = [](const TaskArms& task) {
    std::set<std::int64_t> out;
    for (const ReportRun& run : task.reference->runs) out.insert(run.seed);
    return out;
  };
  return std::ranges::all_of(tasks, [&](const TaskArms& task) { return seeds(task) == seeds(tasks.front()); });
}

} // namespace

void answer_over_tasks(ReportData& report) {
  report.overall.reset();
  if (!report.over) return;
  OverTasks& over = *report.over;
  const std::vector<TaskArms> tasks = tasks_of(report);
  over.names.clear();
  for (const TaskArms& task : tasks) over.names.push_back(task.label);
  over.lacking.clear();
  over.thresholds.clear();
  over.common_seeds = have_common_seeds(tasks);
  over.problem = TaskScale(report, tasks).problem();
  const bool like_these = over.tasks == TaskScope::like_these;
  if (over.problem.empty() && like_these && tasks.size() < statistics::fewest_tasks_alike)
    over.problem = fmt::format("there are {} tasks, and an answer for tasks like these takes {}", tasks.size(),
                               statistics::fewest_tasks_alike);
  if (over.problem.empty() && !report.looks.empty() &&
      report.seeds_looked_at() < (like_these ? report.seeds.size() : report.looks.front()))
    over.problem = fmt::format("the {} look, at {} seeds, is still to come", like_these ? "last" : "first",
                               like_these ? report.seeds.size() : report.looks.front());
  if (!over.problem.empty()) return;
  report.overall = Overall(report, tasks).made();
  if (!report.overall) over.problem = "no arm is in all tasks";
}

} // namespace heed
