#include "experiments/statistics/comparison.hpp"

#include "experiments/statistics/bootstrap.hpp"
#include "experiments/statistics/equivalence.hpp"
#include "experiments/statistics/flip_intervals.hpp"
#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/holm.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heed::statistics {

namespace {

/// Values of the seeds that both have, in the arm's order.
struct Pairs {
  std::vector<std::int64_t> seeds;
  std::vector<double> arm, reference, differences;
};

Pairs pair_up(const SeedValues& arm, const SeedValues& reference, double resolution) {
  Pairs pairs;
  for (std::size_t i = 0; i < arm.seeds.size(); ++i) {
    const auto other = std::find(reference.seeds.begin(), reference.seeds.end(), arm.seeds[i]);
    if (other == reference.seeds.end()) continue;
    pairs.seeds.push_back(arm.seeds[i]);
    const double a = arm.values[i], b = reference.values[static_cast<std::size_t>(other - reference.seeds.begin())];
    const bool equal = std::abs(a - b) <= resolution * std::max(std::abs(a), std::abs(b));
    pairs.arm.push_back(equal ? b : a);
    pairs.reference.push_back(b);
    pairs.differences.push_back(pairs.arm.back() - b);
  }
  return pairs;
}

/// What is said of an arm by itself.
Comparison alone(const Pairs& pairs, const Question& question) {
  Comparison c;
  c.seeds = pairs.seeds;
  c.difference = paired_difference(pairs.arm, pairs.reference);
  c.interquartile = Estimate{interquartile_mean(pairs.differences),
                             bca_interval(pairs.differences, interquartile_mean)};
  c.effect_size = effect_size(pairs.differences);
  c.improvement = probability_of_improvement(pairs.differences, question.higher_is_better);
  const std::vector<SeedDifferences> one{{pairs.seeds, pairs.differences}};
  c.p_flip = step_down_flips(one).p.front();
  c.margin = question.margin;
  if (c.margin) c.p_equivalence = equivalence_p(pairs.differences, *c.margin);
  return c;
}

/// 0 is outside where a difference is found, and inside where none is.
Interval agreeing(Interval of, bool found, double mean) {
  const bool outside = of.low > 0 || of.high < 0;
  if (found == outside) return of;
  if (!found) return {std::min(of.low, 0.0), std::max(of.high, 0.0)};
  return mean > 0 ? Interval{0, of.high} : Interval{of.low, 0};
}

Interval cut(Interval of, std::optional<double> range) {
  return range ? Interval{std::max(of.low, -*range), std::min(of.high, *range)} : of;
}

bool can_reach_level(const Comparison& c) { return smallest_p(c.seeds.size()) <= significance_level; }
/// On one side, a flip's mirror image is another flip.
bool can_be_called_same(const Comparison& c) { return smallest_p(c.seeds.size()) / 2 <= significance_level; }

/// Sets a member of those comparisons that `of` gives a number for.
template <class Of, class Set>
void corrected_by_holm(std::vector<std::optional<Comparison>>& all, const Of& of, const Set& set) {
  std::vector<double> p;
  std::vector<Comparison*> whose;
  for (auto& c : all)
    if (c && of(*c)) {
      p.push_back(*of(*c));
      whose.push_back(&*c);
    }
  const std::vector<double> corrected = holm(p);
  for (std::size_t i = 0; i < whose.size(); ++i) set(*whose[i], corrected[i]);
}

Answer answer_of(const Comparison& c) {
  if (c.p_equivalence_flips && *c.p_equivalence_flips <= significance_level) return Answer::same;
  if (!can_reach_level(c)) return Answer::underpowered;
  return c.p && *c.p <= significance_level ? Answer::differs : Answer::undecided;
}

} // namespace

std::string_view name_of(Answer answer) {
  switch (answer) {
    case Answer::differs: return "differs";
    case Answer::same: return "same";
    case Answer::undecided: return "undecided";
    case Answer::underpowered: return "underpowered";
  }
  return "";
}

std::vector<std::optional<Comparison>> compare(std::span<const SeedValues> arms,
                                               std::span<const std::size_t> reference_of, const Question& question) {
  std::vector<std::optional<Comparison>> out(arms.size());
  std::vector<Pairs> pairs;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const std::size_t reference = reference_of[i];
    pairs.push_back(reference == i ? Pairs{} : pair_up(arms[i], arms[reference], question.resolution));
    if (!pairs[i].seeds.empty()) out[i] = alone(pairs[i], question);
  }

  /// The arms of which `is` holds, and their differences.
  const auto family = [&](const auto& is) {
    std::pair<std::vector<SeedDifferences>, std::vector<Comparison*>> members;
    for (std::size_t i = 0; i < arms.size(); ++i)
      if (out[i] && is(*out[i])) {
        members.first.push_back({pairs[i].seeds, pairs[i].differences});
        members.second.push_back(&*out[i]);
      }
    return members;
  };
  for (const bool reaches : {true, false}) {
    const auto [differences, members] = family([&](const Comparison& c) { return can_reach_level(c) == reaches; });
    const FlipTest test = step_down_flips(differences);
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->p = test.p[i];
      members[i]->exact = test.exact;
      members[i]->flips = test.flips;
    }
    if (!reaches) continue;
    const FlipIntervals intervals = flip_intervals(differences, 1 - significance_level);
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->interval_flips = intervals.alone[i];
      if (intervals.together[i])
        members[i]->interval = cut(agreeing(*intervals.together[i], test.p[i] <= significance_level,
                                            members[i]->difference.mean),
                                   question.range);
    }
  }
  if (question.margin) {
    const auto [differences, members] = family(can_be_called_same);
    const std::vector<double> p = equivalence_by_flips(differences, *question.margin);
    for (std::size_t i = 0; i < members.size(); ++i) members[i]->p_equivalence_flips = p[i];
  }
  corrected_by_holm(
      out, [](const Comparison& c) { return c.p_flip; }, [](Comparison& c, double p) { c.p_holm = p; });
  for (auto& c : out)
    if (c) c->answer = answer_of(*c);
  return out;
}

} // namespace heed::statistics
