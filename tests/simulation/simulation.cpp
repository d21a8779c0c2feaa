// Simulation study of the answers in reports: error rates, power and coverage over many sweeps whose truth is known.
// Prints tables as comments and a TAP point for each guarantee. Runs 400 sweeps of each kind (60 of those that go
// through a whole report), or 4000 (1000) if HEED_LONG is in the environment.

#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/spreads.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/simulation/answers.hpp"
#include "tests/simulation/promises.hpp"
#include "tests/simulation/results.hpp"
#include "tests/simulation/situations.hpp"
#include "tests/simulation/sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace heed::simulation;
using heed::RandomSource;

const bool long_form = std::getenv("HEED_LONG") != nullptr;
const std::size_t sweeps = long_form ? 4000 : 400, reports = long_form ? 1000 : 60, tables = long_form ? 10'000 : 400;

/// The first cells of a table row.
std::vector<std::string> cells(const Kind& kind) {
  return {kind.label, fmt::to_string(kind.seeds), fmt::to_string(kind.arms)};
}

// ---- paired runs, noise of one shape -------------------------------------------------------------------------------

/// The effects and margins of the simulation.
constexpr double one = 1, two = 2, four = 4;

struct Paired {
  Rate any_false, any_false_of_three, power_one, power_two;             // for the answer `differs`
  Rate better_same, worse_same, false_same_of_one, same_two, same_four; // for the answer `same`
  Rate all_hold, all_hold_moved, own_holds;                             // for the intervals from sign flips
  Rate student_holds, interquartile_holds, improvement_holds;           // for the other intervals
  Rate agreeing, zero_where_differs, zero_elsewhere, quick_is_same;
};

Paired try_paired(const Kind& kind) {
  Paired out;
  const bool bootstraps = kind.seeds >= 8;
  const auto asked = [&](const Sweep& sweep, std::optional<double> margin = {}) {
    return bootstraps ? ask_quickly(sweep, margin) : ask(sweep, margin);
  };
  for (std::size_t number = 0; number < sweeps; ++number) {
    const Sweep alike = draw_sweep(kind, number);
    const bool whole = !bootstraps || kind.arms == 1;
    const Answers none = whole ? ask(alike) : ask_quickly(alike), by_one = asked(moved(alike, one)),
                  by_two = asked(moved(alike, two));
    out.any_false.add(any(none, differs));
    out.power_one.add(share(by_one, differs));
    out.power_two.add(share(by_two, differs));
    if (none[0].interval) {
      out.all_hold.add(std::ranges::all_of(none, [](const Comparison& c) { return covers(c, 0); }));
      out.all_hold_moved.add(std::ranges::all_of(by_one,
                                                 [](const Comparison& c) { return covers(c, one * deviation); }));
      out.own_holds.add(share(none, [](const Comparison& c) { return holds(c.interval_flips, 0); }));
    }
    if (whole) {
      out.student_holds.add(share(none, [](const Comparison& c) { return holds(c.difference.interval, 0); }));
      out.improvement_holds.add(share(none, [](const Comparison& c) { return holds(c.improvement->interval, 0.5); }));
      if (bootstraps) out.interquartile_holds.add(holds(none[0].interquartile->interval, 0));
      for (const Answers* answers : {&none, &by_one, &by_two}) {
        if (bootstraps && answers != &none) continue;
        out.agreeing.add(std::ranges::all_of(*answers, agrees));
        for (const Comparison& c : *answers)
          if (c.interval) (differs(c) ? out.zero_where_differs : out.zero_elsewhere).add(ends_at_zero(c));
      }
    }

    out.better_same.add(any(asked(moved(alike, two), two), same));
    out.worse_same.add(any(asked(moved(alike, -two), two), same));
    out.same_two.add(share(asked(alike, two), same));
    out.same_four.add(share(asked(alike, four), same));
    if (kind.arms > 2) {
      out.any_false_of_three.add(any(asked(moved(alike, two, 2)), differs, 2));
      out.false_same_of_one.add(same(asked(moved(alike, two, 1), two)[0]));
    }
    if (number < 10) out.quick_is_same.add(quick_is_same(moved(alike, one)));
  }
  return out;
}

void paired(Points& points) {
  std::vector<std::pair<Kind, Paired>> tried;
  for (const Shape& shape : shapes)
    for (const std::size_t seeds : {5, 6, 8, 12})
      for (const std::size_t arms : {1, 5}) {
        if (seeds == 12 && !long_form) continue;
        const Kind kind{shape, seeds, arms, shape.name};
        tried.emplace_back(kind, try_paired(kind));
      }
  const std::vector<std::string> what{"noise", "seeds", "arms"};
  const auto table = [&](std::vector<std::string> header) {
    header.insert(header.begin(), what.begin(), what.end());
    return Table(std::move(header));
  };
  Table differences = table({"any false *differs*", "of 3 arms beside 2 that differ", "*differs* by 1", "by 2"}),
        sameness = table({"any false *same*, better", "worse", "of 1 arm beside 4 alike", "*same*, margin 2",
                          "margin 4"}),
        coverage = table({"all intervals", "where arms differ by 1", "an arm's own", "Student's",
                          "BCa, interquartile mean", "P(better)", "end at 0: *differs*", "others"});
  for (const auto& [kind, rates] : tried) {
    differences.row(cells(kind), {rates.any_false, rates.any_false_of_three, rates.power_one, rates.power_two});
    sameness.row(cells(kind),
                 {rates.better_same, rates.worse_same, rates.false_same_of_one, rates.same_two, rates.same_four});
    if (rates.all_hold.count() > 0)
      coverage.row(cells(kind), {rates.all_hold, rates.all_hold_moved, rates.own_holds, rates.student_holds,
                                 rates.interquartile_holds, rates.improvement_holds, rates.zero_where_differs,
                                 rates.zero_elsewhere});
  }
  differences.print();
  sameness.print();
  coverage.print();

  for (const auto& [kind, rates] : tried) {
    const std::string name = "paired, " + kind.name() + ": ";
    // With one arm, the differences of identically distributed runs are symmetric about 0, whatever the noise is. With
    // several arms, the noise itself must be symmetric.
    if (kind.shape.symmetric || kind.arms == 1) {
      points.at_most(0.05, rates.any_false, name + "any false difference");
      points.at_most(0.05, rates.better_same, name + "any false same of better arms");
      points.at_most(0.05, rates.worse_same, name + "any false same of worse arms");
    }
    if (kind.shape.symmetric && kind.arms > 1) {
      points.at_most(0.05, rates.any_false_of_three, name + "a false difference beside true ones");
      points.at_most(0.05, rates.false_same_of_one, name + "a false same beside true ones");
    }
    if (rates.all_hold.count() > 0) {
      if (kind.shape.symmetric || kind.arms == 1) {
        points.at_least(0.95, rates.all_hold, name + "all intervals hold");
        points.at_least(0.95, rates.all_hold_moved, name + "all intervals hold where arms differ");
      }
      points.at_least(0.95, rates.own_holds, name + "an arm's own interval holds");
      points.point(rates.power_one.value() <= rates.power_two.value(), name + "larger effects are found more often");
    } else points.point(rates.power_two.value() == 0, name + "too few seeds for a difference");
    points.point(rates.same_two.value() <= rates.same_four.value(), name + "a wider margin has more that is the same");
    if (rates.student_holds.count() > 0) {
      if (kind.shape.number == normal_noise.number)
        points.about(0.95, rates.student_holds, name + "Student's interval holds");
      points.at_least(0.95, rates.improvement_holds, name + "the interval of P(better) holds");
      points.point(rates.agreeing.value() == 1, name + "intervals are without 0 just where the answer is differs");
    }
    points.point(rates.quick_is_same.value() == 1, name + "the parts say what the whole comparison says");
  }
}

// ---- unpaired runs -------------------------------------------------------------------------------------------------

struct Unpaired {
  Rate any_false, power_one, power_two, any_false_same, same_two, same_four, all_hold, own_holds, agreeing;
};

Unpaired try_unpaired(const Kind& kind) {
  Unpaired out;
  const auto asked = [](const Sweep& sweep, std::optional<double> margin = {}) {
    return ask(sweep, margin, Test::unpaired);
  };
  for (std::size_t number = 0; number < sweeps; ++number) {
    const Sweep alike = draw_sweep(kind, number);
    const Answers none = asked(alike), by_one = asked(moved(alike, one));
    out.any_false.add(any(none, differs));
    out.power_one.add(share(by_one, differs));
    out.power_two.add(share(asked(moved(alike, two)), differs));
    out.any_false_same.add(any(asked(moved(alike, two), two), same));
    out.same_two.add(share(asked(alike, two), same));
    out.same_four.add(share(asked(alike, four), same));
    out.all_hold.add(std::ranges::all_of(none, [](const Comparison& c) { return covers(c, 0); }));
    out.own_holds.add(share(none, [](const Comparison& c) { return holds(c.interval_flips, 0); }));
    out.agreeing.add(std::ranges::all_of(none, agrees) && std::ranges::all_of(by_one, agrees));
  }
  return out;
}

void unpaired(Points& points) {
  Table table({"noise, test = \"unpaired\"", "seeds", "arms", "any false *differs*", "*differs* by 1", "by 2",
               "any false *same*", "*same*, margin 2", "margin 4", "all intervals", "an arm's own"});
  for (const bool seeds_matter : {false, true})
    for (const Shape& shape : shapes)
      for (const std::size_t arms : {1, 5}) {
        if (seeds_matter && shape.number != normal_noise.number) continue;
        const Kind kind{shape, 6, arms, shape.name + (seeds_matter ? ", seeds matter" : ""), 1, 1, seeds_matter};
        const Unpaired rates = try_unpaired(kind);
        table.row(cells(kind), {rates.any_false, rates.power_one, rates.power_two, rates.any_false_same, rates.same_two,
                                rates.same_four, rates.all_hold, rates.own_holds});
        const std::string name = "unpaired, " + kind.name() + ": ";
        points.point(rates.agreeing.value() == 1, name + "intervals are without 0 just where the answer is differs");
        if (seeds_matter) continue; // runs of one seed are dependent
        points.at_most(0.05, rates.any_false, name + "any false difference");
        points.at_most(0.05, rates.any_false_same, name + "any false same");
        points.at_least(0.95, rates.all_hold, name + "all intervals hold");
        points.at_least(0.95, rates.own_holds, name + "an arm's own interval holds");
        points.point(rates.power_one.value() <= rates.power_two.value(), name + "larger effects are found more often");
      }
  table.print();
}

// ---- unequal spreads -----------------------------------------------------------------------------------------------

void spreads(Points& points) {
  Table table({"noise, arms' spread fourfold", "seeds", "arms", "any false *differs*", "unpaired",
               "any false *same*, better", "worse", "all intervals", "an arm's own", "a false *differs* has a note"});
  constexpr double ratio = 4;
  // standard deviation of a difference, relative to that of the other simulations
  const double of_difference = std::sqrt(1 + ratio * ratio) / deviation;
  for (const Shape& shape : {normal_noise, skewed_noise})
    for (const std::size_t seeds : {6, 8, 12})
      for (const std::size_t arms : {1, 5}) {
        if (seeds == 12 && !long_form) continue;
        const std::string known = shape.symmetric ? "" : " (known)";
        const Kind kind{shape, seeds, arms, shape.name + known, 2, ratio};
        Rate any_false, any_false_unpaired, better, worse, all_hold, own_holds, noted;
        for (std::size_t number = 0; number < sweeps; ++number) {
          const Sweep alike = draw_sweep(kind, number);
          const Answers none = ask_quickly(alike);
          any_false.add(any(none, differs));
          for (std::size_t arm = 1; arm <= arms; ++arm)
            if (differs(none[arm - 1])) {
              const std::vector<SeedDifferences> flipped{
                  {alike[arm].seeds, spread_differences(alike[arm].values, alike[0].values,
                                                        differences_of(alike[arm], alike[0]).values)}};
              noted.add(flips_of_each(flipped)[0] <= 0.1);
            }
          if (seeds == 6) any_false_unpaired.add(any(ask(alike, {}, Test::unpaired), differs));
          all_hold.add(std::ranges::all_of(none, [](const Comparison& c) { return covers(c, 0); }));
          own_holds.add(share(none, [](const Comparison& c) { return holds(c.interval_flips, 0); }));
          const double margin = two * of_difference;
          better.add(any(ask_quickly(moved(alike, margin), margin), same));
          worse.add(any(ask_quickly(moved(alike, -margin), margin), same));
        }
        table.row(cells(kind), {any_false, any_false_unpaired, better, worse, all_hold, own_holds, noted});
        if (!shape.symmetric) continue; // no guarantee
        const std::string name = "unequal spread, " + kind.name() + ": ";
        points.at_most(0.05, any_false, name + "any false difference");
        points.at_most(0.05, better, name + "any false same of better arms");
        points.at_most(0.05, worse, name + "any false same of worse arms");
        points.at_least(0.95, all_hold, name + "all intervals hold");
        points.at_least(0.95, own_holds, name + "an arm's own interval holds");
      }
  table.print();
}

// ---- runs that fail ------------------------------------------------------------------------------------------------

struct Failing {
  std::string which;
  /// all_arms: runs of the reference and all arms can fail, otherwise only runs of the first arm. worst: the runs with
  /// the worst noise fail, otherwise random runs.
  bool all_arms, worst;
  bool promised;
};

/// A sweep without the failed runs. `ranks`: the ranks of the runs of the first arm and of the reference; failed runs
/// have the lowest rank.
struct FailedSweep {
  Sweep left, ranks;
  bool any_failed_of_two = false;
};

FailedSweep draw_failing(const Kind& kind, const Failing& failing, double share_failing, double worst_noise,
                         std::size_t number, double effect_of_first) {
  RandomSource random = kind.random(number);
  const auto noise = draw_noise(kind, random);
  const Sweep whole = moved(sweep_of(kind, noise, random), effect_of_first, 1);
  FailedSweep out{Sweep(whole.size()), {whole[0], whole[1]}};
  for (std::size_t arm = 0; arm < whole.size(); ++arm)
    for (std::size_t s = 0; s < kind.seeds; ++s) {
      const bool may_fail = failing.all_arms || arm == 1;
      const bool fails = failing.worst ? noise[arm][s] < worst_noise : random.uniform() < share_failing;
      if (may_fail && fails) {
        if (arm > 1) continue;
        out.ranks[arm].values[s] = -std::numeric_limits<double>::infinity();
        out.any_failed_of_two = true;
      } else {
        out.left[arm].seeds.push_back(whole[arm].seeds[s]);
        out.left[arm].values.push_back(whole[arm].values[s]);
      }
    }
  rank_together(out.ranks[0].values, out.ranks[1].values);
  return out;
}

void failing_runs(Points& points) {
  Table table({"which runs fail, of 100", "seeds", "arms", "any false *differs*", "*underpowered*",
               "first arm falsely better", "of these still, failed as worst", "p <= 0.05, failed as worst",
               "first arm falsely *same*"});
  const std::vector<Failing> ways{{"all arms', at random", true, false, true},
                                  {"the first arm's, at random", false, false, true},
                                  {"the first arm's worst (known)", false, true, false}};
  for (const Failing& failing : ways)
    for (const double share_failing : {0.1, 0.25})
      for (const std::size_t seeds : {8, 12})
        for (const std::size_t arms : {1, 5}) {
          if (seeds == 12 && !long_form) continue;
          const Kind kind{normal_noise, seeds, arms, fmt::format("{:g}: {}", 100 * share_failing, failing.which), 3};
          const double worst_noise = quantile(kind.shape, share_failing);
          const auto draw = [&](std::size_t number, double effect) {
            return draw_failing(kind, failing, share_failing, worst_noise, number, effect);
          };
          Rate any_false, underpowered, better, better_holds, failed_worst, false_same, is_quick_same;
          for (std::size_t number = 0; number < sweeps; ++number) {
            const FailedSweep alike = draw(number, 0);
            const Answers none = ask_quickly(alike.left);
            any_false.add(any(none, differs));
            underpowered.add(share(none, [](const Comparison& c) { return c.answer == Answer::underpowered; }));
            const bool first_better = differs(none[0]) && none[0].difference.mean > 0;
            better.add(first_better);
            if (alike.any_failed_of_two) {
              const Comparison ranked = ask_quickly(alike.ranks)[0];
              failed_worst.add(differs(ranked));
              if (first_better) better_holds.add(differs(ranked) && ranked.difference.mean > 0);
            }
            // The first arm is worse by the margin. Its remaining runs look better than the arm is.
            false_same.add(same(ask_quickly(draw(number, -two).left, two)[0]));
            if (number < 10) is_quick_same.add(quick_is_same(alike.left));
          }
          table.row(cells(kind), {any_false, underpowered, better, better_holds, failed_worst, false_same});
          const std::string name = "failing runs, " + kind.name() + ": ";
          points.point(is_quick_same.value() == 1, name + "the parts say what the whole comparison says");
          if (!failing.promised) continue;
          points.at_most(0.05, any_false, name + "any false difference");
          points.at_most(0.05, false_same, name + "a false same");
          if (failing.all_arms) points.at_most(0.05, failed_worst, name + "a false difference, failed as worst");
        }
  table.print();
}

// ---- arms with two outcomes beside others --------------------------------------------------------------------------

/// Arms with normal noise beside arms of which each run learns with a probability of 1/2.
void beside_two_outcomes(Points& points) {
  Table table({"seeds", "arms", "beside", "the others' intervals hold", "all hold", "times as wide", "above 1.5"});
  for (const std::size_t seeds : {6, 8, 12})
    for (const auto& [others, beside] : std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {1, 2}, {3, 2}}) {
      if (seeds == 12 && !long_form) continue;
      const Kind kind{normal_noise, seeds, others + beside, "normal", 5};
      Rate others_hold, all_hold, wider, above;
      for (std::size_t number = 0; number < sweeps; ++number) {
        RandomSource random = kind.random(number);
        auto noise = draw_noise(kind, random);
        for (std::size_t arm = others + 1; arm < noise.size(); ++arm)
          for (double& x : noise[arm]) x += random.uniform() < 0.5 ? between_heaps : 0;
        const Sweep all = sweep_of(kind, noise, random);
        const Answers found = ask_quickly(all),
                      alone = ask_quickly({all.begin(), all.begin() + 1 + static_cast<std::ptrdiff_t>(others)});
        bool each = true, every = true;
        for (std::size_t arm = 0; arm < found.size(); ++arm) {
          const bool is_other = arm < others, held = holds(found[arm].interval, is_other ? 0 : between_heaps / 2);
          every = every && held;
          if (!is_other) continue;
          each = each && held;
          const Interval &with = *found[arm].interval, &without = *alone[arm].interval;
          const double ratio = (with.high - with.low) / (without.high - without.low);
          wider.add(ratio / 100); // the table shows per cent
          above.add(ratio > 1.5);
        }
        others_hold.add(each);
        all_hold.add(every);
      }
      table.row({fmt::to_string(seeds), fmt::to_string(others), fmt::to_string(beside)},
                {others_hold, all_hold, wider, above});
      const std::string where = fmt::format("{} beside {} of two outcomes, {} seeds: ", others, beside, seeds);
      points.at_least(0.95, others_hold, where + "the others' intervals hold");
      points.at_most(0.015, wider, where + "the others' intervals are less than 1.5 times as wide as without them");
    }
  table.print();
}

// ---- shares of seeds -----------------------------------------------------------------------------------------------

/// Bimodal runs: a given fraction of the runs of the reference and of an arm learn.
void shares(Points& points) {
  Table table({"learn: reference, arm", "seeds", "*differ* by Fisher's test", "interval of the reference's share",
               "heaps are seen", "and *differ*"});
  const auto learns = [](double x) { return x > between_heaps / 2; };
  for (const auto& [of_reference, of_arm] :
       std::vector<std::pair<double, double>>{{0.1, 0.1}, {0.5, 0.5}, {0.7, 0.7}, {0.9, 0.9}, {0.9, 0.5}, {0.9, 0.1}})
    for (const std::size_t seeds : {6, 8, 12}) {
      Rate differ, interval_holds, seen, seen_and_differ;
      for (std::size_t number = 0; number < sweeps; ++number) {
        RandomSource random({static_cast<std::uint64_t>(of_reference * 1000 + of_arm * 100) + seeds * 10'000,
                             heed::Stream::test, number});
        std::vector<double> all;
        for (std::size_t i = 0; i < 2 * seeds; ++i)
          all.push_back(draw_heaps(random, i < seeds ? of_reference : of_arm));
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>(seeds);
        const auto p_of = [&](const auto& is_above) {
          return fisher_exact(static_cast<std::size_t>(std::count_if(all.begin(), middle, is_above)), seeds,
                              static_cast<std::size_t>(std::count_if(middle, all.end(), is_above)), seeds);
        };
        differ.add(p_of(learns) <= significance_level);
        const auto learned = std::count_if(all.begin(), middle, learns);
        interval_holds.add(holds(share_of(static_cast<double>(learned), seeds).interval, of_reference));
        const auto gap = gap_between_modes(all);
        seen.add(gap.has_value());
        seen_and_differ.add(gap && p_of([&](double x) { return x > *gap; }) <= significance_level);
      }
      const std::string name = fmt::format("{:g}, {:g} %", 100 * of_reference, 100 * of_arm);
      table.row({name, fmt::to_string(seeds)}, {differ, interval_holds, seen, seen_and_differ});
      const std::string where = fmt::format("shares, {}, {} seeds: ", name, seeds);
      if (of_reference == of_arm) {
        points.at_most(0.05, differ, where + "a false difference by Fisher's test");
        points.at_most(0.05, seen_and_differ, where + "a false difference between heaps that are seen");
      }
      points.at_least(0.95, interval_holds, where + "Clopper and Pearson's interval holds");
    }
  table.print();

  Table none({"seeds", "one heap of so many values seems two", "none fails where as many do as the bound says"});
  for (const auto& [seeds, seem_two] : std::vector<std::pair<std::size_t, double>>{{6, 0.022}, {8, 0.003}}) {
    Rate seems_two, none_fails;
    for (std::size_t number = 0; number < sweeps; ++number) {
      RandomSource random({seeds, heed::Stream::test, number});
      std::vector<double> values, others;
      for (std::size_t i = 0; i < seeds; ++i) {
        values.push_back(random.normal());
        others.push_back(random.uniform());
      }
      seems_two.add(gap_between_modes(values).has_value());
      none_fails.add(std::ranges::min(others) >= largest_share_of_none(seeds));
    }
    none.row(std::vector{fmt::to_string(seeds)}, {seems_two, none_fails});
    points.about(seem_two, seems_two, fmt::format("{} values of one heap seem two", seeds));
    points.about(0.05, none_fails, fmt::format("none of {} fails where as many do as the bound says", seeds));
  }
  none.print();

  Table skewed({"skewed values of one heap", "exponential, seem two", "lognormal"});
  for (const std::size_t values : {6, 12, 16, 24}) {
    Rate exponential, lognormal;
    for (std::size_t number = 0; number < sweeps; ++number) {
      RandomSource random({values + 100, heed::Stream::test, number});
      std::vector<double> one, other;
      for (std::size_t i = 0; i < values; ++i) {
        one.push_back(draw_exponential(random));
        other.push_back(std::exp(random.normal()));
      }
      exponential.add(gap_between_modes(one).has_value());
      lognormal.add(gap_between_modes(other).has_value());
    }
    skewed.row({fmt::to_string(values)}, {exponential, lognormal});
  }
  skewed.print();
}

} // namespace

/// With arguments, only these sections; after the word "except", all but these.
int main(int count, char** arguments) {
  Points points;
  fmt::print(
      "# | {} tables of each kind in the grids, {} sweeps elsewhere, {} from the looks on; per cent ± a standard "
      "error |\n#\n",
      tables, sweeps, reports);
  const std::vector<std::pair<std::string, std::function<void()>>> sections{
      {"paired-grid", [&] { paired_grid(points, tables, long_form); }},
      {"unpaired-grid", [&] { unpaired_grid(points, tables, long_form); }},
      {"smallest-differences", [&] { smallest_differences(points, reports, long_form); }},
      {"not-worse", [&] { not_worse(points, tables, long_form); }},
      {"other-examples", [&] { other_examples(points, tables, long_form); }},
      {"rare-failures", [&] { rare_failures(points, sweeps); }},
      {"paired", [&] { paired(points); }},
      {"unpaired", [&] { unpaired(points); }},
      {"spreads", [&] { spreads(points); }},
      {"failing-runs", [&] { failing_runs(points); }},
      {"beside-two-outcomes", [&] { beside_two_outcomes(points); }},
      {"shares", [&] { shares(points); }},
      {"shares-of-arms", [&] { shares_of_arms(points, sweeps); }},
      {"looks", [&] { looks(points, reports); }},
      {"further-metrics", [&] { further_metrics(points, reports); }},
      {"crossed-options", [&] { crossed_options(points, reports); }},
      {"groups", [&] { groups(points, reports); }},
      {"different-sizes", [&] { different_sizes(points, reports); }},
      {"targets", [&] { targets(points, reports); }},
      {"tuned-arms", [&] { tuned_arms(points, reports); }}};
  std::vector<std::string> named(arguments + 1, arguments + count);
  const bool except = !named.empty() && named.front() == "except";
  if (except) named.erase(named.begin());
  for (const std::string& name : named)
    if (std::ranges::count(sections, name, &std::pair<std::string, std::function<void()>>::first) == 0) {
      fmt::print(stderr, "test_simulation: there is no section {}\n", name);
      return 2;
    }
  for (const auto& [name, simulate] : sections)
    if (named.empty() || (std::ranges::count(named, name) > 0) != except) simulate();
  return points.finish();
}
