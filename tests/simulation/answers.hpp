// The answers for the arms of a simulated sweep, and checks of the answers against the known truth.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/flip_intervals.hpp"
#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/simulation/sweeps.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace heed::simulation {

using Answers = std::vector<Comparison>; // one for each arm

inline Answers ask(const Sweep& sweep, std::optional<double> margin = {}, Test test = Test::paired) {
  const std::vector<std::size_t> references(sweep.size(), 0);
  if (margin) *margin *= deviation;
  const auto comparisons = compare(sweep, references, {.test = test, .higher_is_better = true, .margin = margin});
  Answers out;
  for (std::size_t arm = 1; arm < sweep.size(); ++arm) {
    out.push_back(comparisons[arm].value_or(Comparison{}));
    if (!comparisons[arm]) out.back().answer = Answer::underpowered; // no pair is left
  }
  return out;
}

inline SeedDifferences differences_of(const SeedValues& arm, const SeedValues& reference) {
  SeedDifferences out;
  for (std::size_t i = 0; i < arm.seeds.size(); ++i) {
    const auto other = std::ranges::find(reference.seeds, arm.seeds[i]);
    if (other == reference.seeds.end()) continue;
    out.seeds.push_back(arm.seeds[i]);
    out.values.push_back(arm.values[i] - reference.values[static_cast<std::size_t>(other - reference.seeds.begin())]);
  }
  return out;
}

/// The same answers without the bootstrap of `compare`, computed directly from the tests and the intervals. With many
/// seeds, the bootstrap takes ten times as long as everything else. A TAP point checks that both functions agree.
inline Answers ask_quickly(const Sweep& sweep, std::optional<double> margin = {},
                           bool intervals_beside_margin = false) {
  Answers out(sweep.size() - 1);
  /// Calls f with the differences of all arms that have at least `fewest` pairs, and with the comparisons of these
  /// arms.
  const auto family = [&](std::size_t fewest, const auto& f) {
    std::vector<SeedDifferences> differences;
    std::vector<Comparison*> members;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (SeedDifferences d = differences_of(sweep[i + 1], sweep[0]); d.values.size() >= fewest) {
        differences.push_back(std::move(d));
        members.push_back(&out[i]);
      }
    f(differences, members);
  };
  for (Comparison& c : out) c.answer = Answer::underpowered;
  family(6, [&](const auto& differences, const auto& members) {
    const FlipTest test = step_down_flips(differences);
    const bool has_intervals = !margin || intervals_beside_margin;
    const FlipIntervals intervals = has_intervals ? flip_intervals(differences) : FlipIntervals{};
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->p = test.p[i];
      members[i]->answer = test.p[i] <= significance_level ? Answer::differs : Answer::undecided;
      members[i]->difference.mean = mean(differences[i].values);
      if (!has_intervals) continue;
      members[i]->interval = intervals.together[i];
      members[i]->interval_flips = intervals.alone[i];
    }
  });
  if (margin)
    family(5, [&](const auto& differences, const auto& members) {
      const std::vector<double> p = equivalence_by_flips(differences, *margin * deviation);
      for (std::size_t i = 0; i < members.size(); ++i) {
        members[i]->p_equivalence_flips = p[i];
        if (p[i] <= significance_level) members[i]->answer = Answer::same;
      }
    });
  return out;
}

/// Whether `ask` and `ask_quickly` give the same answers.
inline bool quick_is_same(const Sweep& sweep) {
  for (const std::optional<double> margin : {std::optional<double>{}, std::optional<double>{2}}) {
    const Answers slow = ask(sweep, margin), quick = ask_quickly(sweep, margin);
    for (std::size_t i = 0; i < slow.size(); ++i)
      if (slow[i].answer != quick[i].answer || slow[i].p_equivalence_flips != quick[i].p_equivalence_flips ||
          (quick[i].p && slow[i].p != quick[i].p))
        return false;
  }
  return true;
}

/// `share`: the fraction of the arms with a property. `any`: whether any arm from index `from` has the property.
template <class Holds> double share(const Answers& answers, const Holds& holds) {
  return static_cast<double>(std::ranges::count_if(answers, holds)) / static_cast<double>(answers.size());
}
template <class Holds> double any(const Answers& answers, const Holds& holds, std::size_t from = 0) {
  return std::any_of(answers.begin() + static_cast<std::ptrdiff_t>(from), answers.end(), holds);
}

/// A report of a sweep, without its statistics. All runs have finished.
inline ReportData report_of(const Sweep& sweep, std::optional<double> margin = {}) {
  ReportData report;
  report.metric = {"val_score", Direction::higher, "", "a score without bounds"};
  report.metric.low = -std::numeric_limits<double>::infinity();
  report.sweep = true;
  report.margin = margin;
  for (std::size_t arm = 0; arm < sweep.size(); ++arm) {
    ReportArm& to = report.arms.emplace_back();
    to.label = arm == 0 ? "reference" : fmt::format("arm {}", arm);
    for (std::size_t i = 0; i < sweep[arm].values.size(); ++i) {
      ReportRun& run = to.runs.emplace_back();
      run.seed = sweep[arm].seeds[i];
      run.state = RunState::finished;
      run.value = sweep[arm].values[i];
    }
  }
  report.seeds = sweep[0].seeds;
  return report;
}

inline ReportData answered(ReportData report) {
  compute_statistics(report);
  return report;
}

inline bool differs(const Comparison& c) { return c.answer == Answer::differs; }
inline bool same(const Comparison& c) { return c.answer == Answer::same; }

inline bool holds(const std::optional<Interval>& interval, double truth) {
  return interval && interval->low <= truth && truth <= interval->high;
}

inline bool ends_at_zero(const Comparison& c) { return c.interval && (c.interval->low == 0 || c.interval->high == 0); }

/// The interval must exclude 0 exactly when the answer is `differs`. An end that was moved to 0 is allowed for both
/// answers.
inline bool agrees(const Comparison& c) {
  if (!c.interval) return !differs(c);
  return ends_at_zero(c) || (c.interval->low > 0 || c.interval->high < 0) == differs(c);
}

/// Whether the interval covers the truth. If the answer is `differs`, the interval does not cover 0, because an end at
/// 0 was moved there.
inline bool covers(const Comparison& c, double truth) {
  return holds(c.interval, truth) && !(truth == 0 && differs(c));
}

} // namespace heed::simulation
