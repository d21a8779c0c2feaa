#include "experiments/statistics/comparison.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/bootstrap.hpp"
#include "experiments/statistics/corrections.hpp"
#include "experiments/statistics/flip_intervals.hpp"
#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/noninferiority.hpp"
#include "experiments/statistics/pairs.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/spreads.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/statistics/unpaired.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace heed::statistics {

namespace {

bool equal_by_seed(const SeedValues& arm, const SeedValues& reference, const Pairs& pairs) {
  return arm.seeds.size() == reference.seeds.size() && pairs.seeds.size() == arm.seeds.size() &&
         std::ranges::all_of(pairs.differences, [](double d) { return d == 0; });
}

/// With fewer values, the coverage of 95 % BCa intervals is only 74 to 88 %.
constexpr std::size_t fewest_for_bca = 8;

/// The statistics of one arm that do not depend on other arms.
Comparison alone(const Pairs& pairs, const ComparisonRequest& request) {
  Comparison c;
  c.seeds = pairs.seeds;
  c.rounded = pairs.rounded;
  const std::vector<double> zeros(pairs.differences.size(), 0.0);
  c.difference = paired_difference(pairs.differences, zeros, 1 - request.level);
  c.ranked = pairs.censored;
  c.equal = !c.ranked && std::ranges::all_of(pairs.differences, [](double d) { return d == 0; });
  c.constant = !c.ranked && !c.equal && pairs.differences.size() > 1 &&
               std::ranges::adjacent_find(pairs.differences, std::not_equal_to<>()) == pairs.differences.end();
  if (c.constant) c.difference.interval.reset();
  c.interquartile = Estimate{interquartile_mean(pairs.differences), std::nullopt};
  c.effect_size = effect_size(pairs.differences);
  c.correlation = pair_correlation(pairs.arm, pairs.reference);
  c.improvement = probability_of_improvement(pairs.differences, request.higher_is_better);
  c.smallest_p = smallest_p(pairs.seeds.size());
  c.seeds_needed = seeds_for_level(request.level);
  c.level = request.level;
  if (!c.ranked) c.margin = request.margin;
  if (c.margin) c.p_equivalence = equivalence_p(pairs.differences, *c.margin);
  return c;
}

/// Moves an end to 0 if necessary, so that the interval excludes 0 exactly if a difference is found.
Interval agreeing(Interval of, bool found, double mean) {
  const bool outside = of.low > 0 || of.high < 0;
  if (found == outside) return of;
  if (!found) return {std::min(of.low, 0.0), std::max(of.high, 0.0)};
  return mean > 0 ? Interval{0, of.high} : Interval{of.low, 0};
}

/// The interval of an arm that is the same, from the two one-sided tests: with the bounds L and U, [min(0, L), max(0,
/// U)] has their level once, not twice, because at most one of its ends can lie on the wrong side of a true difference
/// (Hsu, Hwang, Liu and Ruberg 1994, doi 10.1093/biomet/81.1.103). Ends beyond the margin are moved to it.
Interval within_margin(const std::optional<Interval>& bounds, double margin) {
  if (!bounds) return {-margin, margin};
  return {std::max(std::min(0.0, bounds->low), -margin), std::min(std::max(0.0, bounds->high), margin)};
}

/// The interval of an arm that is not the same: it is not within the margin.
Interval beyond_margin(Interval of, double margin) {
  if (of.low <= -margin || of.high >= margin) return of;
  return -of.low > of.high ? Interval{-margin, of.high} : Interval{of.low, margin};
}

Interval cut(Interval of, std::optional<double> range) {
  return range ? Interval{std::max(of.low, -*range), std::min(of.high, *range)} : of;
}

bool can_reach_level(const Comparison& c) { return c.smallest_p <= c.level; }
/// A one-sided test counts a flip and its mirror image separately, so its smallest p is half as large.
bool can_be_called_same(const Comparison& c) { return c.smallest_p / 2 <= c.level; }

/// Corrects the p values that `of` returns by Holm's method, and passes each to `set`. Skips comparisons without such a
/// p.
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

bool is_found(const Comparison& c) { return c.p && *c.p <= c.level; }

/// Sets whether the tested values (ranks) have another direction than the difference of means.
void set_contradicts(Comparison& c, double of_ranks) {
  c.rank_difference = of_ranks;
  c.contradicts = is_found(c) && of_ranks * c.difference.mean <= 0;
}

Answer answer_of(const Comparison& c) {
  if (c.p_equivalence_flips && *c.p_equivalence_flips <= c.level) return Answer::same;
  if (c.smallest_p > c.level) return Answer::underpowered;
  return is_found(c) && !c.contradicts ? Answer::differs : Answer::undecided;
}

/// Arms that are tested together.
struct Family {
  std::vector<SeedDifferences> differences, tested;
  std::vector<Comparison*> comparisons;
  std::vector<std::optional<double>> range;
};

/// The statistics of each arm with pairs that need resampling: arms with equal numbers of seeds, or the same seeds,
/// share the draws.
void draw_alone(std::vector<std::optional<Comparison>>& all, const std::vector<Pairs>& pairs) {
  std::vector<SeedDifferences> arms, spreads;
  std::vector<Comparison*> whose, with_interval;
  std::vector<std::span<const double>> samples;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    arms.push_back({pairs[i].seeds, pairs[i].tested});
    spreads.push_back({pairs[i].seeds, spread_differences(pairs[i].arm, pairs[i].reference, pairs[i].differences)});
    whose.push_back(&*all[i]);
    if (pairs[i].differences.size() < fewest_for_bca) continue;
    samples.emplace_back(pairs[i].differences);
    with_interval.push_back(&*all[i]);
  }
  const std::vector<double> p = flips_of_each(arms);
  const std::vector<double> p_spreads = flips_of_each(spreads);
  for (std::size_t i = 0; i < whose.size(); ++i) {
    whose[i]->p_flip = p[i];
    if (whose[i]->seeds.size() > 2 && !whose[i]->ranked) whose[i]->p_spreads = p_spreads[i];
  }
  const std::vector<std::optional<Interval>> intervals = interquartile_intervals(samples);
  for (std::size_t i = 0; i < with_interval.size(); ++i) with_interval[i]->interquartile->interval = intervals[i];
}

std::vector<std::optional<Comparison>> compare_pairs(std::span<const SeedValues> arms,
                                                     std::span<const std::size_t> reference_of,
                                                     std::span<const ComparisonRequest> requests) {
  std::vector<std::optional<Comparison>> out(arms.size());
  std::vector<Pairs> pairs;
  std::map<std::size_t, SeedPlaces> places; // of the references
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const std::size_t reference = reference_of[i];
    const SeedPlaces& of_reference = places.try_emplace(reference, arms[reference]).first->second;
    pairs.push_back(reference == i ? Pairs{} : pair_up(arms[i], arms[reference], of_reference, requests[i]));
    if (pairs[i].seeds.empty()) continue;
    out[i] = alone(pairs[i], requests[i]);
    // A censored run makes nothing the same, even if its seed has no pair.
    if (!any_censored(arms[i].values, requests[i]) && !any_censored(arms[reference].values, requests[i])) continue;
    out[i]->margin.reset();
    out[i]->p_equivalence.reset();
    out[i]->equal = false;
  }
  draw_alone(out, pairs);

  /// The arms for which `is` is true, with their differences.
  const auto family = [&](const auto& is) {
    Family members;
    for (std::size_t i = 0; i < arms.size(); ++i)
      if (out[i] && is(*out[i])) {
        members.differences.push_back({pairs[i].seeds, pairs[i].differences});
        members.tested.push_back({pairs[i].seeds, pairs[i].tested});
        members.comparisons.push_back(&*out[i]);
        members.range.push_back(requests[i].range);
      }
    return members;
  };
  for (const bool reaches : {true, false}) {
    const auto [differences, tested, members,
                ranges] = family([&](const Comparison& c) { return can_reach_level(c) == reaches; });
    const FlipTest test = step_down_flips(tested);
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->p = test.p[i];
      members[i]->family = members.size();
      members[i]->exact = test.exact;
      members[i]->flips = test.flips;
      if (members[i]->ranked) set_contradicts(*members[i], mean(tested[i].values));
    }
    if (!reaches) continue;
    const FlipIntervals intervals = flip_intervals(differences, 1 - requests.front().level);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i]->constant) continue;
      members[i]->interval_flips = intervals.alone[i];
      if (intervals.together[i])
        members[i]->interval = cut(agreeing(*intervals.together[i], is_found(*members[i]) && !members[i]->contradicts,
                                            members[i]->difference.mean),
                                   ranges[i]);
    }
  }
  const auto [differences, tested, members,
              ranges] = family([](const Comparison& c) { return c.margin && can_be_called_same(c); });
  if (!members.empty()) {
    const double margin = *members.front()->margin, level = members.front()->level;
    const std::vector<double> p = equivalence_by_flips(differences, margin);
    const std::vector<std::optional<Interval>> bounds = equivalence_intervals(differences, level);
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::optional<Interval>& interval = members[i]->interval;
      members[i]->p_equivalence_flips = p[i];
      const bool varies = !members[i]->constant;
      if (p[i] <= level) interval = cut(within_margin(varies ? bounds[i] : std::nullopt, margin), ranges[i]);
      else if (interval) interval = beyond_margin(*interval, margin);
    }
  }
  corrected_by_holm(
      out, [](const Comparison& c) { return c.p_flip; }, [](Comparison& c, double p) { c.p_holm = p; });
  for (auto& c : out)
    if (c) c->answer = answer_of(*c);
  return out;
}

/// The smallest number of runs of each arm with which all arms can reach the level.
std::size_t unpaired_seeds_needed(std::size_t arms, double level) {
  std::size_t n = 1;
  while (static_cast<double>(arms) * smallest_unpaired_p(n, n) > level) ++n;
  return n;
}

std::vector<std::optional<Comparison>> compare_unpaired(std::span<const SeedValues> arms,
                                                        std::span<const std::size_t> reference_of,
                                                        std::span<const ComparisonRequest> requests) {
  std::vector<std::optional<Comparison>> out(arms.size());
  std::vector<Pairs> pairs(arms.size());
  std::vector<std::size_t> members;
  std::vector<double> smallest, p, above_by_rank(arms.size());
  const auto is_paired = [&](std::size_t i) { return requests[i].test == Test::paired; };
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const SeedValues& reference = arms[reference_of[i]];
    const std::size_t n = arms[i].values.size(), m = reference.values.size();
    if (reference_of[i] == i || n == 0 || m == 0) continue;
    pairs[i] = pair_up(arms[i], reference, SeedPlaces(reference), requests[i]);
    if (is_paired(i) && pairs[i].seeds.empty()) continue;
    members.push_back(i);
    smallest.push_back(is_paired(i) ? smallest_p(pairs[i].seeds.size()) : smallest_unpaired_p(n, m));
    if (is_paired(i)) out[i] = alone(pairs[i], requests[i]);
  }
  draw_alone(out, pairs); // of the paired ones
  const double level = requests.front().level;
  const std::vector<bool> reach = that_reach(smallest, level);
  const std::vector<double> least = corrected(smallest, reach);
  const auto family = static_cast<std::size_t>(std::ranges::count(reach, true));
  for (std::size_t which = 0; which < members.size(); ++which) {
    const std::size_t i = members[which];
    const ComparisonRequest& request = requests[i];
    const SeedValues& reference = arms[reference_of[i]];
    if (!out[i]) out[i].emplace();
    Comparison& c = *out[i];
    c.family = reach[which] ? family : members.size();
    c.smallest_p = least[which];
    c.level = level;
    const double confidence = 1 - level / static_cast<double>(c.family);
    if (is_paired(i)) {
      const std::array<SeedDifferences, 1> d{{{pairs[i].seeds, pairs[i].differences}}};
      c.exact = pairs[i].seeds.size() <= most_exact_seeds;
      c.flips = c.exact ? std::uint64_t{1} << pairs[i].seeds.size() : random_flips + 1;
      c.seeds_needed = seeds_for_level(level / static_cast<double>(members.size()));
      p.push_back(*c.p_flip);
      if (!c.constant) {
        c.interval_flips = flip_intervals(d, 1 - level).alone[0];
        c.interval = flip_intervals(d, confidence).alone[0];
      }
      if (c.margin) c.p_equivalence = equivalence_by_flips(d, *c.margin)[0];
      continue;
    }
    const std::vector<double>&a = arms[i].values, &b = reference.values;
    c.seeds = arms[i].seeds;
    c.reference_runs = b.size();
    c.difference = unpaired_difference(a, b, 1 - level);
    const std::vector<double> equal = without_rounding(a, b, request.resolution);
    c.ranked = any_censored(a, request) || any_censored(b, request);
    c.equal = !c.ranked && equal_by_seed(arms[i], reference, pairs[i]);
    c.rounded = pairs[i].rounded;
    const PermutationTest test = permutation_test(equal, b, 1 - level);
    c.p_flip = test.p;
    if (c.ranked) {
      std::vector<double> ranks = equal, of_reference = b;
      rank_together(ranks, of_reference);
      c.p_flip = permutation_levels(ranks, of_reference).p;
      above_by_rank[i] = mean(ranks) - mean(of_reference);
    }
    p.push_back(*c.p_flip);
    c.exact = test.exact;
    c.flips = test.permutations;
    c.interval_flips = test.interval;
    c.interval = permutation_test(equal, b, confidence).interval;
    c.effect_size = effect_size_unpaired(equal, b);
    if (!c.ranked) c.p_spreads = p_of_equal_spreads(equal, b);
    c.seeds_needed = unpaired_seeds_needed(members.size(), level);
    if (!c.ranked) c.margin = request.margin;
    if (c.margin) {
      std::vector<double> up = equal, down = b;
      for (double& x : up) x += *c.margin;
      for (double& x : down) x += *c.margin;
      c.p_equivalence = std::max(permutation_levels(up, b).p_above, permutation_levels(down, equal).p_above);
    }
  }
  const std::vector<double> found = corrected(p, reach);
  for (std::size_t which = 0; which < members.size(); ++which) out[members[which]]->p = found[which];
  corrected_by_holm(
      out, [](const Comparison& c) { return c.p_flip; }, [](Comparison& c, double of_all) { c.p_holm = of_all; });

  // A one-sided test counts a permutation and its mirror image separately.
  std::vector<double> one_sided, of_margin;
  std::vector<std::size_t> with_margin;
  for (std::size_t which = 0; which < members.size(); ++which) {
    Comparison& c = *out[members[which]];
    if (!c.p_equivalence) continue;
    one_sided.push_back(smallest[which] / (is_paired(members[which]) || c.seeds.size() == c.reference_runs ? 2 : 1));
    of_margin.push_back(*c.p_equivalence);
    with_margin.push_back(members[which]);
  }
  const std::vector<bool> reach_margin = that_reach(one_sided, level);
  const std::vector<double> same = corrected(of_margin, reach_margin);
  const auto reaching = static_cast<double>(std::ranges::count(reach_margin, true));
  std::vector<std::optional<Interval>> bounds(arms.size()); // of the equivalence tests, of arms that are the same
  for (std::size_t which = 0; which < with_margin.size(); ++which) {
    const std::size_t i = with_margin[which];
    Comparison& c = *out[i];
    c.p_equivalence_flips = same[which];
    if (c.p_equivalence_flips > level || c.constant) continue;
    if (is_paired(i)) {
      const std::array<SeedDifferences, 1> d{{{pairs[i].seeds, pairs[i].differences}}};
      bounds[i] = equivalence_intervals(d, level / reaching)[0];
      continue;
    }
    const std::vector<double>& b = arms[reference_of[i]].values;
    bounds[i] =
        permutation_test(without_rounding(arms[i].values, b, requests[i].resolution), b, 1 - level / reaching).sides;
  }
  for (const std::size_t i : members) {
    Comparison& c = *out[i];
    if (c.ranked) set_contradicts(c, above_by_rank[i]);
    c.answer = answer_of(c);
    if (c.answer == Answer::same) c.interval = within_margin(bounds[i], *c.margin);
    else if (c.interval) {
      c.interval = agreeing(*c.interval, is_found(c) && !c.contradicts, c.difference.mean);
      if (c.margin) c.interval = beyond_margin(*c.interval, *c.margin);
    }
    if (c.interval) c.interval = cut(*c.interval, requests[i].range);
  }
  return out;
}

/// Whether the arms differ from their references, or are the same within a margin. The margin of another question is
/// not used.
std::vector<std::optional<Comparison>> compare_differences(std::span<const SeedValues> arms,
                                                           std::span<const std::size_t> reference_of,
                                                           std::vector<ComparisonRequest> requests) {
  for (ComparisonRequest& request : requests)
    if (request.question == Question::not_worse) request.margin.reset();
  return std::ranges::count(requests, Test::unpaired, &ComparisonRequest::test) > 0
             ? compare_unpaired(arms, reference_of, requests)
             : compare_pairs(arms, reference_of, requests);
}

} // namespace

std::vector<std::optional<Comparison>> compare(std::span<const SeedValues> arms,
                                               std::span<const std::size_t> reference_of,
                                               const ComparisonRequest& request) {
  return compare_each(arms, reference_of, std::vector<ComparisonRequest>(arms.size(), request));
}

std::vector<std::optional<Comparison>> compare_each(std::span<const SeedValues> arms,
                                                    std::span<const std::size_t> reference_of,
                                                    std::span<const ComparisonRequest> requests) {
  if (requests.size() != arms.size() || reference_of.size() != arms.size())
    throw Failed(fmt::format("[statistics] {} arms have {} references and {} requests", arms.size(),
                             reference_of.size(), requests.size()));
  std::optional<double> margin;
  for (const ComparisonRequest& request : requests) {
    if (request.level != requests.front().level || (margin && request.margin && *margin != *request.margin))
      throw Failed("[statistics] arms that are compared together are compared at one level and with one margin");
    if (request.margin) margin = request.margin;
  }
  if (std::ranges::count(requests, Question::not_worse, &ComparisonRequest::question) == 0)
    return compare_differences(arms, reference_of, {requests.begin(), requests.end()});
  std::vector<std::optional<Comparison>> out(arms.size());
  for (const Question question : {Question::difference, Question::not_worse}) {
    std::vector<std::size_t> members;
    std::map<std::size_t, std::size_t> places; // by index in `arms`
    for (std::size_t i = 0; i < arms.size(); ++i)
      if (requests[i].question == question) {
        places[i] = members.size();
        members.push_back(i);
      }
    if (members.empty()) continue;
    std::vector<SeedValues> values;
    std::vector<std::size_t> references;
    std::vector<ComparisonRequest> asked;
    for (const std::size_t i : members) {
      if (!places.contains(reference_of[i]))
        throw Failed("[statistics] an arm and its reference are asked different questions");
      values.push_back(arms[i]);
      references.push_back(places.at(reference_of[i]));
      asked.push_back(requests[i]);
    }
    std::vector<std::optional<Comparison>> compared = compare_differences(values, references, asked);
    if (question == Question::not_worse) ask_not_worse(values, references, asked, compared);
    for (std::size_t at = 0; at < members.size(); ++at) out[members[at]] = std::move(compared[at]);
  }
  return out;
}

} // namespace heed::statistics
