#include "experiments/statistics/comparison.hpp"

#include "experiments/statistics/bootstrap.hpp"
#include "experiments/statistics/equivalence.hpp"
#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/holm.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>

namespace heed::statistics {

namespace {

/// Values of the seeds that both have, in the arm's order.
struct Pairs {
  std::vector<std::int64_t> seeds;
  std::vector<double> arm, reference, differences;
};

Pairs pair_up(const SeedValues& arm, const SeedValues& reference) {
  Pairs pairs;
  for (std::size_t i = 0; i < arm.seeds.size(); ++i) {
    const auto other = std::find(reference.seeds.begin(), reference.seeds.end(), arm.seeds[i]);
    if (other == reference.seeds.end()) continue;
    pairs.seeds.push_back(arm.seeds[i]);
    pairs.arm.push_back(arm.values[i]);
    pairs.reference.push_back(reference.values[static_cast<std::size_t>(other - reference.seeds.begin())]);
    pairs.differences.push_back(pairs.arm.back() - pairs.reference.back());
  }
  return pairs;
}

/// What is said of an arm by itself.
Comparison alone(const Pairs& pairs, bool higher_is_better, std::optional<double> margin) {
  Comparison c;
  c.seeds = pairs.seeds;
  c.difference = paired_difference(pairs.arm, pairs.reference);
  c.interquartile = Estimate{interquartile_mean(pairs.differences),
                             bca_interval(pairs.differences, interquartile_mean)};
  c.effect_size = effect_size(pairs.differences);
  c.improvement = probability_of_improvement(pairs.differences, higher_is_better);
  const std::vector<SeedDifferences> one{{pairs.seeds, pairs.differences}};
  c.p_flip = step_down_flips(one).p.front();
  c.margin = margin;
  if (margin) c.p_equivalence = equivalence_p(pairs.differences, *margin);
  return c;
}

bool can_reach_level(const Comparison& c) { return smallest_p(c.seeds.size()) <= significance_level; }

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
  if (!can_reach_level(c)) return Answer::underpowered;
  if (c.p_equivalence_holm && *c.p_equivalence_holm <= significance_level) return Answer::same;
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
                                               std::span<const std::size_t> reference_of, bool higher_is_better,
                                               std::optional<double> margin) {
  std::vector<std::optional<Comparison>> out(arms.size());
  std::vector<Pairs> pairs;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const std::size_t reference = reference_of[i];
    pairs.push_back(reference == i ? Pairs{} : pair_up(arms[i], arms[reference]));
    if (!pairs[i].seeds.empty()) out[i] = alone(pairs[i], higher_is_better, margin);
  }

  for (const bool reaches : {true, false}) {
    std::vector<SeedDifferences> family;
    std::vector<Comparison*> members;
    for (std::size_t i = 0; i < arms.size(); ++i)
      if (out[i] && can_reach_level(*out[i]) == reaches) {
        family.push_back({pairs[i].seeds, pairs[i].differences});
        members.push_back(&*out[i]);
      }
    const FlipTest test = step_down_flips(family);
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->p = test.p[i];
      members[i]->exact = test.exact;
      members[i]->flips = test.flips;
    }
  }
  corrected_by_holm(
      out, [](const Comparison& c) { return c.p_flip; }, [](Comparison& c, double p) { c.p_holm = p; });
  corrected_by_holm(
      out, [](const Comparison& c) { return can_reach_level(c) ? c.p_equivalence : std::nullopt; },
      [](Comparison& c, double p) { c.p_equivalence_holm = p; });
  for (auto& c : out)
    if (c) c->answer = answer_of(*c);
  return out;
}

} // namespace heed::statistics
