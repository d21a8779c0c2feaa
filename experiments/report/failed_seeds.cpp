#include "experiments/report/failed_seeds.hpp"

#include "experiments/report/limits.hpp"
#include "experiments/statistics/corrections.hpp"
#include "experiments/statistics/noninferiority.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace heed {

namespace {

bool failed(const ReportRun& run) { return !run.is_left_out() && run.state == RunState::failed; }

using Runs = std::span<const ReportRun>;

bool any_failed(Runs runs) { return std::ranges::any_of(runs, failed); }

std::vector<double> values_of(Runs runs) {
  std::vector<double> out;
  for (const ReportRun& run : runs)
    if (run.value) out.push_back(*run.value);
  return out;
}

/// The smallest gap that separates learning from not learning: larger than the margin, and than a twentieth of the
/// distance from chance (or from the metric's worst value) to its best value.
double least_gap(const ReportData& report, const ReportArm& arm) {
  constexpr double share = 0.05;
  const Metric& metric = report.metric;
  const std::optional<Task::Level> chance = chance_level(report, arm);
  const std::optional<double> best = metric.best(), worst = chance ? std::optional(chance->value) : metric.worst();
  return std::max(report.margin.value_or(0), best && worst ? share * std::abs(*best - *worst) : 0);
}

/// The gap between the nearest values on both sides of the threshold.
double gap_at(const std::vector<double>& values, double threshold) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double below = -infinite, above = infinite;
  for (const double x : values)
    if (x < threshold) below = std::max(below, x);
    else above = std::min(above, x);
  return above - below;
}

bool straddles(const std::vector<double>& values, double threshold) {
  return !values.empty() && std::ranges::min(values) < threshold && std::ranges::max(values) > threshold;
}

Learned learned_of(Runs runs, double threshold, Direction direction) {
  Learned out;
  for (const ReportRun& run : runs) {
    out.of += run.value || failed(run);
    out.seeds += run.value && is_at_least(*run.value, threshold, direction);
  }
  return out;
}

/// Values of the runs; a failed run gets the worst value.
statistics::SeedValues with_failed(Runs runs, Direction direction) {
  statistics::SeedValues out;
  for (const ReportRun& run : runs) {
    if (!run.value && !failed(run)) continue;
    out.seeds.push_back(run.seed);
    out.values.push_back(run.value ? *run.value : worst_of_all(direction));
  }
  return out;
}

/// Corrects Fisher's p for the number of compared arms. Arms without such a p count as p = 1, since whether an arm has
/// one depends on its results.
void correct_for_arms(ReportData& report) {
  std::vector<ReportArm*> compared;
  std::vector<double> p;
  for (ReportArm& arm : report.arms) {
    if (report.is_reference(arm) || !(arm.comparison || arm.learned)) continue;
    compared.push_back(&arm);
    p.push_back(arm.learned ? arm.learned->p : 1);
  }
  const std::vector<double> corrected = statistics::holm(p);
  for (std::size_t i = 0; i < compared.size(); ++i) {
    if (!compared[i]->learned) continue;
    compared[i]->learned->p = corrected[i];
    compared[i]->learned->arms = compared.size();
  }
}

/// The one-sided p of an answer to Question::not_worse, or of *not worse* if it is open, by ranks.
std::optional<double> p_of_answer(statistics::SeedValues arm, statistics::SeedValues reference,
                                  const statistics::Comparison& c, Direction direction, statistics::Test test) {
  const statistics::Noninferiority& of = *c.noninferiority;
  const double sign = direction == Direction::higher ? 1 : -1;
  if (c.answer != statistics::Answer::better && !of.only_better)
    for (double& x : arm.values) x += sign * of.margin;
  statistics::rank_together(arm.values, reference.values);
  const bool arm_above = (c.answer != statistics::Answer::worse) == (sign > 0);
  return arm_above ? statistics::one_sided_p(arm, reference, test) : statistics::one_sided_p(reference, arm, test);
}

} // namespace

void count_learned(ReportData& report) {
  for (ReportArm& arm : report.arms) {
    arm.learned.reset();
    if (report.is_reference(arm) || report.before_first_look() || !report.metric.is_goal() || !sees_alike(report, arm))
      continue;
    const Runs runs = report.counted_runs(arm), against = report.counted_runs(report.arms[arm.reference]);
    std::optional<double> threshold = report.learned;
    if (!threshold) {
      const std::vector<double> own = values_of(runs), others = values_of(against);
      std::vector<double> all = own;
      all.insert(all.end(), others.begin(), others.end());
      threshold = statistics::gap_between_modes(all);
      if (threshold && ((!straddles(own, *threshold) && !straddles(others, *threshold)) ||
                        gap_at(all, *threshold) <= least_gap(report, arm)))
        threshold.reset();
    }
    if (!threshold) continue;
    const Direction direction = report.metric.direction;
    const std::optional<double> least = report.learned ? std::nullopt : least_learned(report, arm);
    const bool is_least = least && is_better(*least, *threshold, direction);
    if (is_least) threshold = least;
    LearnedSeeds learned{*threshold,
                         !report.learned,
                         is_least,
                         learned_of(runs, *threshold, direction),
                         learned_of(against, *threshold, direction),
                         1,
                         1};
    if (learned.arm.of == 0 || learned.reference.of == 0) continue;
    learned.p = statistics::fisher_exact(learned.arm.seeds, learned.arm.of, learned.reference.seeds,
                                         learned.reference.of);
    arm.learned = learned;
  }
  correct_for_arms(report);
}

void rank_failed_runs(ReportData& report) {
  for (ReportArm& arm : report.arms) {
    arm.p_failed_worst.reset();
    const Runs runs = compared_runs(arm, arm), against = compared_runs(arm, report.arms[arm.reference]);
    if (report.is_reference(arm) || !report.metric.is_goal() || !arm.comparison ||
        !(any_failed(runs) || any_failed(against)))
      continue;
    const Direction direction = report.metric.direction;
    std::vector<statistics::SeedValues> both{with_failed(against, direction), with_failed(runs, direction)};
    if (arm.comparison->noninferiority) {
      arm.p_failed_worst = p_of_answer(both[1], both[0], *arm.comparison, direction, report.test);
      continue;
    }
    statistics::rank_together(both[0].values, both[1].values);
    const auto ranked = statistics::compare(both, std::vector<std::size_t>{0, 0},
                                            {.test = report.test,
                                             .higher_is_better = report.metric.higher_is_better()});
    if (!ranked[1]) continue;
    arm.p_failed_worst = ranked[1]->p;
    arm.better_failed_worst = improves(ranked[1]->difference.mean, direction);
  }
}

} // namespace heed
