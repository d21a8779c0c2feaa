// Computes a report's statistics from its runs' values.
#include "experiments/report/report_data.hpp"

#include "experiments/report/arm_notes.hpp"
#include "experiments/report/failed_seeds.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/other_examples.hpp"
#include "experiments/report/over_tasks.hpp"
#include "experiments/report/shown_texts.hpp"
#include "experiments/statistics/corrections.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace heed {

namespace {

/// Seeds and values of the runs that have a value.
template <class ValueOf> statistics::SeedValues results_of(std::span<const ReportRun> runs, const ValueOf& value_of) {
  statistics::SeedValues out;
  for (const ReportRun& run : runs) {
    if (run.is_left_out()) continue;
    const std::optional<double> value = value_of(run);
    if (!value) continue;
    out.seeds.push_back(run.seed);
    out.values.push_back(*value);
  }
  return out;
}

/// A run's value by the main metric, or by a further one.
std::optional<double> deciding_value(const ReportRun& run) { return run.value; }
auto further_value(std::size_t which) {
  return [which](const ReportRun& run) { return which < run.also.size() ? run.also[which] : std::nullopt; };
}

std::optional<double> mean_of(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(statistics::mean(values));
}

/// The standard deviation; zero if it is only rounding.
std::optional<double> spread_of(const std::vector<double>& values, double resolution) {
  const auto spread = statistics::standard_deviation(values);
  return spread && *spread <= resolution * statistics::largest_size(values) ? 0 : spread;
}

statistics::ComparisonRequest request_of(const ReportData& report, const Metric& metric, double level) {
  std::optional<double> range;
  if (metric.has_upper_bound()) range = metric.high - metric.low;
  return {.test = report.test,
          .higher_is_better = metric.higher_is_better(),
          .range = range,
          .resolution = report.resolution,
          .level = level,
          .censored_at = censoring_value(metric)};
}

/// The difference that an undecided arm's seeds would find, with the upper bound of the spread of the differences: in
/// 80 of 100 sweeps the true spread is no larger.
class SmallestFound {
public:
  explicit SmallestFound(const Metric& metric) {
    if (metric.has_upper_bound()) range_ = metric.high - metric.low;
  }

  std::optional<double> operator()(const ReportArm& arm, const ReportArm& reference) {
    poll_caller();
    if (!arm.comparison || arm.comparison->answer != statistics::Answer::undecided || arm.comparison->ranked ||
        arm.comparison->noninferiority)
      return std::nullopt;
    const statistics::Comparison& c = *arm.comparison;
    const std::size_t n = c.seeds.size(), m = c.reference_runs;
    const std::optional<double> spread = m == 0 ? c.difference.standard_deviation
                                                : pooled(arm.standard_deviation, n, reference.standard_deviation, m);
    if (!spread || !(*spread > 0) || !std::isfinite(*spread)) return std::nullopt;
    const auto [known, is_new] = effects_.try_emplace({{n, m, c.family}, c.level});
    if (is_new)
      known->second = m == 0 ? statistics::smallest_effect(n, found_share, c.level, c.family)
                             : statistics::smallest_effect_unpaired(n, m, found_share, c.level, c.family);
    const double freedom = static_cast<double>(m == 0 ? n - 1 : n + m - 2);
    const double bound = *spread * std::sqrt(freedom / statistics::chi_squared_quantile(freedom, 1 - bound_share));
    // no two values can differ by this much
    if (!known->second || *known->second * bound > range_) return std::nullopt;
    return *known->second * bound;
  }

private:
  static std::optional<double> pooled(std::optional<double> a, std::size_t n, std::optional<double> b, std::size_t m) {
    const double from_a = static_cast<double>(n - 1), from_b = static_cast<double>(m - 1);
    const double va = a.value_or(0), vb = b.value_or(0);
    if (!(from_a + from_b > 0)) return std::nullopt;
    return std::sqrt((from_a * va * va + from_b * vb * vb) / (from_a + from_b));
  }

  static constexpr double bound_share = 0.8; // of sweeps in which the bound holds
  double range_ = std::numeric_limits<double>::infinity();
  /// Key: the number of runs of the arm, of the reference, and of the arms that p is corrected over; and the level.
  std::map<std::pair<std::array<std::size_t, 3>, double>, std::optional<double>> effects_;
};

/// Computes n, mean, spread and time of each arm, for all metrics.
void describe(ReportData& report) {
  // `of`: a ReportArm or a FurtherResult.
  const auto describe_values = [&](const std::vector<double>& values, auto& of) {
    of.values = values.size();
    of.mean = mean_of(values);
    of.standard_deviation = spread_of(values, report.resolution);
    of.interquartile_mean = values.empty() ? std::nullopt : std::optional(statistics::interquartile_mean(values));
  };
  for (ReportArm& arm : report.arms) {
    poll_caller();
    const std::span<const ReportRun> counted = report.counted_runs(arm);
    describe_values(results_of(counted, deciding_value).values, arm);
    std::vector<double> seconds;
    for (const ReportRun& run : arm.runs)
      if (!run.is_left_out() && run.state == RunState::finished) seconds.push_back(run.seconds);
    arm.seconds = mean_of(seconds).value_or(0);
    arm.comparison.reset();
    arm.later.reset();
    arm.look = 0;
    arm.also.clear();
    for (std::size_t m = 0; m < report.also.size(); ++m)
      describe_values(results_of(counted, further_value(m)).values, arm.also.emplace_back());
  }
}

/// Compares the arms over their first `seeds` runs, for all metrics together and, if asked, with the interactions.
/// Skips arms with an answer from an earlier look.
void compare_arms(ReportData& report, std::size_t seeds, double level, bool with_interactions) {
  std::vector<statistics::SeedValues> results;
  std::vector<std::size_t> reference_of;
  std::vector<statistics::ComparisonRequest> requests;
  const auto first = [&](const ReportArm& arm) {
    return std::span<const ReportRun>(arm.runs).first(std::min(seeds, arm.runs.size()));
  };
  const auto values_of = [&](const ReportArm& arm, const auto& value_of) {
    return sees_alike(report, arm) ? results_of(first(arm), value_of) : statistics::SeedValues{};
  };
  for (const ReportArm& arm : report.arms) {
    results.push_back(values_of(arm, deciding_value));
    reference_of.push_back(arm.reference);
    requests.push_back(request_of(report, report.metric, level));
    requests.back().margin = report.margin;
    requests.back().question = report.asked;
  }
  // One metric after the other, each with all arms.
  for (std::size_t m = 0; m < report.also.size(); ++m)
    for (const ReportArm& arm : report.arms) {
      results.push_back(values_of(arm, further_value(m)));
      reference_of.push_back((m + 1) * report.arms.size() + arm.reference);
      requests.push_back(request_of(report, report.also[m], level));
    }
  Contrasts contrasts = with_interactions ? contrasts_of(report, level) : Contrasts{};
  const std::size_t first_contrast = results.size();
  std::ranges::move(contrasts.values, std::back_inserter(results));
  for (const std::size_t of : contrasts.reference_of) reference_of.push_back(first_contrast + of);
  std::ranges::copy(contrasts.requests, std::back_inserter(requests));
  const auto compared = statistics::compare_each(results, reference_of, requests);
  for (std::size_t i = 0; i < contrasts.interactions.size(); ++i) {
    Interaction& interaction = report.interactions.emplace_back(std::move(contrasts.interactions[i]));
    interaction.comparison = *compared[first_contrast + 2 * i + 1];
    if (!report.metric.is_goal()) interaction.comparison.improvement.reset(); // no direction is better
  }
  const auto answer = [&](std::optional<statistics::Comparison>& of, std::size_t& look, const Metric& metric,
                          std::size_t which) {
    if (of && is_found(of->answer)) return false;
    of = compared[which];
    if (of && !metric.is_goal()) of->improvement.reset(); // no direction is better
    look = report.looks.empty() || !of ? 0 : seeds;
    return true;
  };
  for (std::size_t i = 0; i < report.arms.size(); ++i) {
    ReportArm& arm = report.arms[i];
    if (!answer(arm.comparison, arm.look, report.metric, i)) arm.later = compared[i];
    for (std::size_t m = 0; m < report.also.size(); ++m)
      answer(arm.also[m].comparison, arm.also[m].look, report.also[m], (m + 1) * report.arms.size() + i);
  }
}

/// Fills in the value of a further metric, and what was wrong with it.
void take_further(const ReportRun& from, std::size_t which, ReportRun& run) {
  run.value = which < from.also.size() ? from.also[which] : std::nullopt;
  run.state = from.state;
  run.problem = from.problem;
  if (run.value && run.state == RunState::failed) { // it failed in the deciding metric only
    run.state = RunState::finished;
    run.problem.clear();
  }
  if (which >= from.also_problems.size() || from.also_problems[which].empty()) return;
  run.state = RunState::failed;
  run.problem = from.also_problems[which];
}

} // namespace

void compute_statistics(ReportData& report) {
  show_controls(report);
  describe(report);
  report.interactions.clear();
  if (report.looks.empty())
    compare_arms(report, std::numeric_limits<std::size_t>::max(), statistics::significance_level, true);
  const std::vector<double> levels = statistics::look_levels(report.looks);
  const std::size_t last = report.seeds_looked_at();
  // With several looks, interactions are only reported at the last.
  for (std::size_t k = 0; k < report.looks.size() && report.looks[k] <= last; ++k)
    compare_arms(report, report.looks[k], levels[k], report.looks[k] == report.seeds.size());
  SmallestFound smallest_found(report.metric);
  for (ReportArm& arm : report.arms) arm.smallest_found = smallest_found(arm, report.arms[arm.reference]);
  count_learned(report);
  rank_failed_runs(report);
  count_choices(report);
  find_over_examples(report);
  answer_over_tasks(report);
}

void each_further_metric(const ReportData& report, const std::function<void(std::size_t, const ReportData&)>& use) {
  if (report.also.empty()) return;
  ReportData out = report;
  out.margin.reset();
  out.asked = statistics::Question::difference;
  out.examples = false; // stored for the deciding metric
  out.learned.reset();
  out.over.reset();
  out.overall.reset(); // it is of the deciding metric
  out.interactions.clear();
  for (ReportArm& arm : out.arms) {
    arm.learned.reset();
    arm.later.reset();
    arm.over_examples.reset();
    arm.p_choices.reset(); // the tuning chose by the deciding metric
    arm.other_choices = arm.other_choices_of_reference = 0;
    for (ReportRun& run : arm.runs) {
      run.also.clear();
      run.also_problems.clear();
    }
  }
  for (std::size_t which = 0; which < report.also.size(); ++which) {
    poll_caller();
    out.metric = report.also[which];
    for (std::size_t a = 0; a < out.arms.size(); ++a) {
      ReportArm& arm = out.arms[a];
      const FurtherResult& result = report.arms[a].also.at(which);
      arm.values = result.values;
      arm.mean = result.mean;
      arm.standard_deviation = result.standard_deviation;
      arm.interquartile_mean = result.interquartile_mean;
      arm.comparison = result.comparison;
      arm.look = result.look;
      for (std::size_t r = 0; r < arm.runs.size(); ++r) take_further(report.arms[a].runs[r], which, arm.runs[r]);
    }
    rank_failed_runs(out);
    SmallestFound smallest_found(out.metric);
    for (ReportArm& arm : out.arms) arm.smallest_found = smallest_found(arm, out.arms[arm.reference]);
    use(which, out);
  }
}

} // namespace heed
