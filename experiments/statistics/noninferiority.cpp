#include "experiments/statistics/noninferiority.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/corrections.hpp"
#include "experiments/statistics/flip_intervals.hpp"
#include "experiments/statistics/pairs.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/power.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace heed::statistics {

namespace {

/// The differences multiplied by `sign`, plus a constant.
SeedDifferences moved(const SeedDifferences& arm, double sign, double by) {
  SeedDifferences out = arm;
  for (double& d : out.values) d = by + sign * d;
  return out;
}

/// The bound, moved so that it agrees with p and with p_better.
double agreeing(double bound, double margin, bool not_worse, bool better) {
  bound = not_worse ? std::max(bound, -margin) : std::min(bound, -margin);
  return better ? std::max(bound, 0.0) : std::min(bound, 0.0);
}

double sign_of(const ComparisonRequest& request) { return request.higher_is_better ? 1 : -1; }

/// Sets the interval and the answer of an arm whose p values and bound are known.
/// @param reaches  whether the number of runs can reach the level
void conclude(Comparison& c, const ComparisonRequest& request, bool reaches) {
  Noninferiority& of = *c.noninferiority;
  const bool better = of.p_better <= c.level && !c.contradicts, not_worse = *c.p <= c.level;
  const double sign = sign_of(request);
  c.interval.reset();
  if (of.bound && request.range) of.bound = std::max(*of.bound, -*request.range);
  if (of.bound) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    c.interval = sign > 0 ? Interval{*of.bound, infinite} : Interval{-infinite, -*of.bound};
  }
  if (better) c.answer = Answer::better;
  else if (not_worse && !of.only_better) c.answer = Answer::not_worse;
  else if (of.p_worse.value_or(1) <= c.level) c.answer = Answer::worse;
  else c.answer = reaches ? Answer::undecided : Answer::underpowered;
}

/// Whether an arm or its reference has a run that is only known to be no better than its value. The margin then has no
/// test.
bool censors(const SeedValues& arm, const SeedValues& reference, const ComparisonRequest& request) {
  return any_censored(arm.values, request) || any_censored(reference.values, request);
}

/// Whether ranks find the arm better whose values' mean is not.
void set_contradicts(Comparison& c, double of_ranks) {
  c.rank_difference = of_ranks;
  c.contradicts = *c.p <= c.level && c.noninferiority->difference <= 0;
}

void ask_pairs(std::span<const SeedValues> arms, std::span<const std::size_t> reference_of,
               std::span<const ComparisonRequest> requests, std::vector<std::optional<Comparison>>& compared) {
  struct Member {
    std::size_t arm;
    SeedDifferences differences; ///< in the better direction; of ranks if some are censored
    double margin;               ///< 0: only *better* is tested
  };
  std::array<std::vector<Member>, 2> families; // those that can reach the level come second
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (!compared[i]) continue;
    const SeedValues& reference = arms[reference_of[i]];
    const Pairs pairs = pair_up(arms[i], reference, SeedPlaces(reference), requests[i]);
    const bool censored = censors(arms[i], reference, requests[i]);
    families[smallest_p(pairs.seeds.size()) / 2 <= requests[i].level].push_back(
        {i, moved({pairs.seeds, pairs.tested}, sign_of(requests[i]), 0), censored ? 0 : *requests[i].margin});
  }
  for (const bool reaches : {false, true}) {
    std::vector<SeedDifferences> differences;
    std::vector<double> margins;
    for (Member& member : families[reaches]) {
      differences.push_back(std::move(member.differences));
      margins.push_back(member.margin);
    }
    if (differences.empty()) continue;
    const NoninferiorityTests tests = noninferiority_by_flips(differences, margins, requests.front().level);
    for (std::size_t at = 0; at < differences.size(); ++at) {
      const std::size_t i = families[reaches][at].arm;
      Comparison& c = *compared[i];
      const bool only_better = margins[at] == 0;
      c.noninferiority = Noninferiority{.margin = *requests[i].margin,
                                        .difference = sign_of(requests[i]) * c.difference.mean,
                                        .bound = reaches && !c.constant ? tests.bound[at] : std::nullopt,
                                        .p_better = tests.p_better[at],
                                        .p_worse = tests.p_worse[at],
                                        .only_better = only_better};
      c.p = tests.p[at];
      c.family = differences.size();
      c.smallest_p /= 2; // a flip and its mirror image count separately
      c.seeds_needed = seeds_for_level(std::min(2 * c.level, 0.99));
      if (c.ranked) set_contradicts(c, sign_of(requests[i]) * mean(differences[at].values));
      conclude(c, requests[i], reaches);
    }
  }
}

/// The two samples of a one-sided test of "arm above reference", if the arm is moved by `by` in the better direction.
struct Samples {
  std::vector<double> arm, reference;

  Samples moved(double by) const {
    Samples out = *this;
    for (double& x : out.arm) x += by;
    return out;
  }
  double p_above() const { return permutation_levels(arm, reference).p_above; }
  double p_below() const { return permutation_levels(reference, arm).p_above; }
};

void ask_runs(std::span<const SeedValues> arms, std::span<const std::size_t> reference_of,
              std::span<const ComparisonRequest> requests, std::vector<std::optional<Comparison>>& compared) {
  struct Member {
    std::size_t arm;
    Samples samples; ///< in the better direction; ranks if some values are censored
    bool only_better;
  };
  std::vector<Member> members;
  std::vector<double> smallest, p, p_worse;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (!compared[i]) continue;
    const SeedValues& reference = arms[reference_of[i]];
    const std::size_t n = arms[i].values.size(), m = reference.values.size();
    const double sign = sign_of(requests[i]);
    Samples samples{without_rounding(arms[i].values, reference.values, requests[i].resolution), reference.values};
    const bool censored = censors(arms[i], reference, requests[i]);
    if (censored) rank_together(samples.arm, samples.reference);
    for (std::vector<double>* of : {&samples.arm, &samples.reference})
      for (double& x : *of) x *= sign;
    const double margin = censored ? 0 : *requests[i].margin;
    smallest.push_back(smallest_unpaired_p(n, m) / (n == m ? 2 : 1)); // one-sided
    const Samples at_margin = samples.moved(margin);
    p.push_back(at_margin.p_above());
    p_worse.push_back(censored ? 1 : at_margin.p_below());
    members.push_back({i, std::move(samples), censored});
  }
  if (members.empty()) return;
  const double level = requests.front().level;
  const std::vector<bool> reach = that_reach(smallest, level);
  const std::vector<double> least = corrected(smallest, reach), of_all = corrected(p, reach),
                            worse_of_all = corrected(p_worse, reach);
  const auto family = static_cast<std::size_t>(std::ranges::count(reach, true));
  std::size_t needed = 1;
  while (static_cast<double>(members.size()) * smallest_unpaired_p(needed, needed) / 2 > level) ++needed;
  for (std::size_t at = 0; at < members.size(); ++at) {
    const auto& [i, samples, only_better] = members[at];
    Comparison& c = *compared[i];
    const double sign = sign_of(requests[i]);
    c.family = reach[at] ? family : members.size();
    c.p = of_all[at];
    c.smallest_p = least[at];
    c.seeds_needed = needed;
    const double p_better = only_better ? of_all[at] : std::min(1.0, static_cast<double>(c.family) * samples.p_above());
    Noninferiority of{.margin = *requests[i].margin,
                      .difference = sign * c.difference.mean,
                      .bound = {},
                      .p_better = std::max(*c.p, p_better),
                      .p_worse = only_better ? std::nullopt : std::optional(worse_of_all[at]),
                      .only_better = only_better};
    if (reach[at] && !only_better) {
      const auto sides =
          permutation_test(samples.arm, samples.reference, 1 - level / static_cast<double>(family)).sides;
      if (sides || *c.p <= level)
        of.bound = agreeing(sides ? sides->low : -of.margin, of.margin, *c.p <= level, of.p_better <= level);
    }
    c.noninferiority = of;
    if (c.ranked) set_contradicts(c, sign * (mean(samples.arm) - mean(samples.reference)));
    conclude(c, requests[i], reach[at]);
  }
}

} // namespace

NoninferiorityTests noninferiority_by_flips(std::span<const SeedDifferences> arms, std::span<const double> margins,
                                            double level) {
  if (margins.size() != arms.size())
    throw Failed(fmt::format("[statistics] {} arms have {} margins", arms.size(), margins.size()));
  std::vector<SeedDifferences> not_worse, worse;
  std::vector<std::size_t> with_margin;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (!(margins[i] >= 0 && std::isfinite(margins[i])))
      throw Failed(fmt::format("[statistics] a margin is 0 or a number above: {}", margins[i]));
    not_worse.push_back(moved(arms[i], 1, margins[i]));
    if (margins[i] == 0) continue;
    worse.push_back(moved(arms[i], -1, -margins[i]));
    with_margin.push_back(i);
  }
  NoninferiorityTests out{step_down_flips(not_worse, Sides::above).p, {}, {}, {}};
  const std::vector<double> below = step_down_flips(worse, Sides::above).p;
  LowerBounds bounds = lower_bounds(arms, level);
  out.p_better = out.p;
  out.p_worse.resize(arms.size());
  out.bound.resize(arms.size());
  for (std::size_t at = 0; at < with_margin.size(); ++at) {
    const std::size_t i = with_margin[at];
    out.p_worse[i] = below[at];
    out.p_better[i] = std::max(out.p[i], bounds.p[i]);
    const bool reached = out.p[i] <= level;
    if (bounds.bounds[i] || reached)
      out.bound[i] = agreeing(bounds.bounds[i].value_or(-margins[i]), margins[i], reached, out.p_better[i] <= level);
  }
  return out;
}

void ask_not_worse(std::span<const SeedValues> arms, std::span<const std::size_t> reference_of,
                   std::span<const ComparisonRequest> requests, std::vector<std::optional<Comparison>>& compared) {
  for (const ComparisonRequest& request : requests)
    if (!(request.margin && *request.margin > 0))
      throw Failed("[statistics] whether an arm is not worse needs a margin above 0");
  const bool unpaired = std::ranges::count(requests, Test::unpaired, &ComparisonRequest::test) > 0;
  (unpaired ? ask_runs : ask_pairs)(arms, reference_of, requests, compared);
}

std::optional<double> one_sided_p(const SeedValues& arm, const SeedValues& reference, Test test) {
  if (arm.values.empty() || reference.values.empty()) return std::nullopt;
  if (test == Test::unpaired) return Samples{arm.values, reference.values}.p_above();
  Pairs pairs = pair_up(arm, reference, SeedPlaces(reference), {});
  if (pairs.seeds.empty()) return std::nullopt;
  const std::array<SeedDifferences, 1> one{{{std::move(pairs.seeds), std::move(pairs.differences)}}};
  return step_down_flips(one, Sides::above).p.front();
}

} // namespace heed::statistics
