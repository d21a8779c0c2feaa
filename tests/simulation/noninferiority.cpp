// Whether arms are not worse than their reference by more than a margin: error rates, bounds and power.
#include "experiments/statistics/noninferiority.hpp"

#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/corrections.hpp"
#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/permutations.hpp"
#include "tests/simulation/answers.hpp"
#include "tests/simulation/promises.hpp"
#include "tests/simulation/sweeps.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <vector>

namespace heed::simulation {

namespace {

constexpr double margin = 1, apart = 3; // in standard deviations of a difference

std::vector<SeedDifferences> all_differences(const Sweep& sweep, std::size_t seeds) {
  std::vector<SeedDifferences> out;
  for (std::size_t arm = 1; arm < sweep.size(); ++arm) {
    out.push_back(differences_of(sweep[arm], sweep[0]));
    out.back().seeds.resize(seeds);
    out.back().values.resize(seeds);
  }
  return out;
}

NoninferiorityTests tested(const Sweep& sweep, double level = significance_level,
                           std::size_t seeds = std::numeric_limits<std::size_t>::max()) {
  const std::vector<SeedDifferences> arms = all_differences(sweep, std::min(seeds, sweep[0].values.size()));
  return noninferiority_by_flips(arms, std::vector<double>(arms.size(), margin * deviation), level);
}

/// The answers of the whole comparison.
Answers asked(const Sweep& sweep, Test test = Test::paired) {
  const auto comparisons =
      compare(sweep, std::vector<std::size_t>(sweep.size(), 0),
              {.test = test, .higher_is_better = true, .margin = margin * deviation, .question = Question::not_worse});
  Answers out;
  for (std::size_t arm = 1; arm < sweep.size(); ++arm) out.push_back(*comparisons[arm]);
  return out;
}

Answer answer_of(const NoninferiorityTests& tests, std::size_t arm) {
  if (tests.p_better[arm] <= significance_level) return Answer::better;
  if (tests.p[arm] <= significance_level) return Answer::not_worse;
  return tests.p_worse[arm].value() <= significance_level ? Answer::worse : Answer::undecided;
}

bool any_at_most(const std::vector<double>& p, double level = significance_level, std::size_t count = 1000) {
  return std::any_of(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(std::min(count, p.size())),
                     [&](double one) { return one <= level; });
}

/// Whether every bound is at most the truth. A bound at 0 or at the margin was perhaps moved there, and is excluded
/// then.
bool all_hold(const NoninferiorityTests& tests, double truth) {
  for (std::size_t i = 0; i < tests.p.size(); ++i) {
    if (!tests.bound[i] || *tests.bound[i] < truth) continue;
    if (*tests.bound[i] > truth || tests.p[i] <= significance_level) return false;
  }
  return true;
}

double share_not_worse(const NoninferiorityTests& tests) {
  return static_cast<double>(std::ranges::count_if(tests.p, [](double p) { return p <= significance_level; })) /
         static_cast<double>(tests.p.size());
}

void paired_cell(Points& points, Table& errors, Table& power, const Kind& kind, std::size_t tables) {
  Rate false_not_worse, beside_others, false_worse, false_better, hold_at_margin, hold_at_zero, hold_apart;
  Rate not_worse, same_too, wide, is_same_answer;
  for (std::size_t number = 0; number < tables; ++number) {
    const Sweep alike = draw_sweep(kind, number);
    const NoninferiorityTests none = tested(alike), at_margin = tested(moved(alike, -margin));
    false_not_worse.add(any_at_most(at_margin.p));
    false_worse.add(std::ranges::any_of(at_margin.p_worse, [](const auto& p) { return *p <= significance_level; }));
    false_better.add(any_at_most(none.p_better));
    hold_at_margin.add(all_hold(at_margin, -margin * deviation));
    hold_at_zero.add(all_hold(none, 0));
    hold_apart.add(all_hold(tested(moved(alike, apart)), apart * deviation));
    if (kind.arms > 1) // the first arm is at the margin, and the others are better
      beside_others.add(any_at_most(tested(moved(moved(alike, apart), -apart - margin, 1)).p, significance_level, 1));
    not_worse.add(share_not_worse(none));
    same_too.add(share(ask_quickly(alike, margin), same));
    wide.add(share_not_worse(tested(moved(alike, margin)))); // as a margin of twice the size
    if (number >= 20) continue;
    for (const Sweep& sweep : {alike, moved(alike, -margin), moved(alike, -apart), moved(alike, apart)}) {
      const NoninferiorityTests parts = tested(sweep);
      const Answers whole = asked(sweep);
      for (std::size_t i = 0; i < whole.size(); ++i)
        is_same_answer.add(whole[i].answer == answer_of(parts, i) && whole[i].p == parts.p[i] &&
                           whole[i].noninferiority->bound == parts.bound[i]);
    }
  }
  const std::vector<std::string> what{kind.label, fmt::to_string(kind.seeds), fmt::to_string(kind.arms)};
  errors.row(what,
             {false_not_worse, beside_others, false_worse, false_better, hold_at_margin, hold_at_zero, hold_apart});
  power.row(what, {not_worse, same_too, wide});
  const std::string name = "not worse, " + kind.name() + ": ";
  points.point(is_same_answer.value() == 1, name + "the parts say what the whole comparison says");
  points.point(not_worse.value() >= same_too.value(), name + "not worse is found more often than same");
  points.point(not_worse.value() <= wide.value(), name + "a wider margin has more that is not worse");
  if (!kind.shape.symmetric && kind.arms > 1) return; // no guarantee
  points.at_most(0.05, false_not_worse, name + "any false not worse");
  if (kind.arms > 1) points.at_most(0.05, beside_others, name + "a false not worse beside better arms");
  points.at_most(0.05, false_worse, name + "any false worse by more than the margin");
  points.at_most(0.05, false_better, name + "any false better");
  points.at_least(0.95, hold_at_margin, name + "all bounds hold where all arms are at the margin");
  points.at_least(0.95, hold_at_zero, name + "all bounds hold");
  points.at_least(0.95, hold_apart, name + "all bounds hold where all arms are better");
}

/// Two looks with their levels: an arm that an earlier look calls not worse stays so.
void looks_cell(Points& points, Table& table, const Kind& kind, std::size_t first, std::size_t tables) {
  const std::vector<std::size_t> looks{first, kind.seeds};
  const std::vector<double> levels = look_levels(looks);
  Rate with_levels, naively;
  for (std::size_t number = 0; number < tables; ++number) {
    const Sweep at_margin = moved(draw_sweep(kind, number), -margin);
    bool found = false, found_naively = false;
    for (std::size_t k = 0; k < looks.size(); ++k) {
      const std::vector<double> p = tested(at_margin, levels[k], looks[k]).p;
      found = found || any_at_most(p, levels[k]);
      found_naively = found_naively || any_at_most(p);
    }
    with_levels.add(found);
    naively.add(found_naively);
  }
  table.row({fmt::format("{}, {}", first, kind.seeds), fmt::to_string(kind.arms)}, {with_levels, naively});
  points.at_most(0.05, with_levels,
                 fmt::format("not worse, looks at {} and {}, {} arms: any false not worse", first, kind.seeds,
                             kind.arms));
}

void unpaired_cell(Points& points, Table& table, const Kind& kind, std::size_t tables) {
  Rate false_not_worse, false_worse, false_better, hold, not_worse;
  const auto found = [](Answer answer) { return answer == Answer::better || answer == Answer::not_worse; };
  const auto bounds_hold = [](const Answers& answers, double truth) {
    return std::ranges::none_of(answers, [&](const Comparison& c) {
      const auto& bound = c.noninferiority->bound;
      return bound && (*bound > truth || (*bound == truth && *c.p <= significance_level));
    });
  };
  for (std::size_t number = 0; number < tables; ++number) {
    const Sweep alike = draw_sweep(kind, number);
    const Answers none = asked(alike, Test::unpaired), at_margin = asked(moved(alike, -margin), Test::unpaired);
    false_not_worse.add(any(at_margin, [&](const Comparison& c) { return found(c.answer); }));
    false_worse.add(any(at_margin, [&](const Comparison& c) { return c.answer == Answer::worse; }));
    false_better.add(any(none, [&](const Comparison& c) { return c.answer == Answer::better; }));
    hold.add(bounds_hold(none, 0) && bounds_hold(at_margin, -margin * deviation));
    not_worse.add(share(none, [&](const Comparison& c) { return found(c.answer); }));
  }
  table.row({kind.label, fmt::to_string(kind.seeds), fmt::to_string(kind.arms)},
            {false_not_worse, false_worse, false_better, hold, not_worse});
  const std::string name = "not worse, unpaired, " + kind.name() + ": ";
  points.at_most(0.05, false_not_worse, name + "any false not worse");
  points.at_most(0.05, false_worse, name + "any false worse by more than the margin");
  points.at_most(0.05, false_better, name + "any false better");
  points.at_least(0.95, hold, name + "all bounds hold");
}

} // namespace

void not_worse(Points& points, std::size_t tables, bool all) {
  Table errors({"noise", "seeds", "arms", "any false *not worse*", "of 1 arm beside better ones", "any false *worse*",
                "any false *better*", "all bounds, at the margin", "at 0", "where arms are better by 3"}),
      power({"noise", "seeds", "arms", "*not worse*, margin 1", "*same*, margin 1", "*not worse*, margin 2"});
  for (const Shape& shape : {normal_noise, heavy_noise, skewed_noise, bimodal_noise})
    for (const std::size_t seeds : {5, 6, 8})
      for (const std::size_t arms : {1, 5}) {
        if (!all && seeds == 8 && arms > 1) continue;
        paired_cell(points, errors, power, {shape, seeds, arms, shape.name, 40}, tables);
      }
  errors.print();
  power.print();

  Table looks({"looks, normal noise", "arms", "any false *not worse*, with their levels", "with 5 % at each"});
  for (const std::size_t arms : {1, 5}) {
    looks_cell(points, looks, {normal_noise, 8, arms, "normal", 41}, 5, tables);
    if (all) looks_cell(points, looks, {normal_noise, 10, arms, "normal", 41}, 6, tables);
  }
  looks.print();

  Table unpaired({"noise, unpaired", "runs each", "arms", "any false *not worse*", "any false *worse*",
                  "any false *better*", "all bounds", "*not worse*, margin 1"});
  for (const Shape& shape : {normal_noise, heavy_noise})
    for (const std::size_t seeds : {5, 6})
      for (const std::size_t arms : {1, 5}) {
        if (!all && (seeds == 6 || !shape.symmetric || shape.number != normal_noise.number)) continue;
        unpaired_cell(points, unpaired, {shape, seeds, arms, shape.name, 42, 1, false}, tables);
      }
  unpaired.print();
}

} // namespace heed::simulation
