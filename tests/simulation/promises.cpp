#include "tests/simulation/promises.hpp"

#include "experiments/report/report_data.hpp"
#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/corrections.hpp"
#include "experiments/statistics/flip_intervals.hpp"
#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/power.hpp"
#include "tests/simulation/answers.hpp"
#include "tests/simulation/sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

namespace heed::simulation {

namespace {

constexpr double all_apart = 3; // effect of all arms, in standard deviations of a difference
constexpr double margin_in_deviations = 2;

std::vector<std::string> cells(const Kind& kind) {
  return {kind.label, fmt::format("{:g}", kind.spread), fmt::to_string(kind.seeds), fmt::to_string(kind.arms)};
}

/// The standard deviation of a difference between an arm's run and the reference's, relative to that of equal spreads.
double unit_of(const Kind& kind) { return std::sqrt(1 + kind.spread * kind.spread) / deviation; }

bool all_cover(const Answers& answers, double truth) {
  return std::ranges::all_of(answers, [&](const Comparison& c) { return !c.interval || covers(c, truth); });
}

/// Any noise keeps the promises for one arm of the same spread. For several arms, or other spreads, differences must be
/// symmetric.
bool is_promised(const Kind& kind) { return kind.shape.symmetric || (kind.arms == 1 && kind.spread == 1); }

void paired_cell(Points& points, Table& table, const Kind& kind, std::size_t sweeps) {
  const double unit = unit_of(kind), margin = margin_in_deviations * unit;
  Rate any_false, false_same, hold_at_zero, hold_apart, hold_at_margin;
  for (std::size_t number = 0; number < sweeps; ++number) {
    const Sweep alike = draw_sweep(kind, number);
    const Answers none = ask_quickly(alike);
    any_false.add(any(none, differs));
    if (kind.seeds < 6) continue;
    const Answers apart = ask_quickly(moved(alike, all_apart * unit)),
                  at_margin = ask_quickly(moved(alike, margin), margin, true);
    hold_at_zero.add(all_cover(none, 0));
    hold_apart.add(all_cover(apart, all_apart * unit * deviation));
    false_same.add(any(at_margin, same));
    hold_at_margin.add(std::ranges::all_of(at_margin, [&](const Comparison& c) {
      return !same(c) && (!c.interval || holds(c.interval, margin * deviation));
    }));
  }
  table.row(cells(kind), {any_false, hold_at_zero, hold_apart, false_same, hold_at_margin});
  if (!is_promised(kind)) return;
  const std::string name = fmt::format("paired, {}, spread {:g}: ", kind.name(), kind.spread);
  points.at_most(0.05, any_false, name + "any false difference");
  if (kind.seeds < 6) return;
  points.at_least(0.95, hold_at_zero, name + "all intervals hold");
  points.at_least(0.95, hold_apart, name + "all intervals hold where all arms differ");
  points.at_most(0.05, false_same, name + "any false same");
  // The equivalence tests have their own 5 %, of which half is that of the interval's end.
  points.at_least(0.925, hold_at_margin, name + "all intervals hold where all arms are at the margin");
}

/// The answers by permutations with Holm's correction: those of `compare`, without its intervals.
bool any_found(const Sweep& sweep, const auto& p_of) {
  std::vector<double> p;
  for (std::size_t arm = 1; arm < sweep.size(); ++arm) p.push_back(p_of(sweep[arm].values, sweep[0].values));
  const double least = smallest_unpaired_p(sweep[0].values.size(), sweep[0].values.size());
  if (least * static_cast<double>(p.size()) > significance_level) return false; // no arm can reach the level
  return std::ranges::min(holm(p)) <= significance_level;
}

void unpaired_cell(Points& points, Table& table, const Kind& kind, std::size_t sweeps) {
  Rate any_false, one_interval, is_same_answer;
  for (std::size_t number = 0; number < sweeps; ++number) {
    const Sweep alike = draw_sweep(kind, number);
    const bool found = any_found(alike, [](const auto& a, const auto& b) { return permutation_levels(a, b).p; });
    any_false.add(found);
    if (number < 20) {
      const Answers whole = ask(alike, {}, Test::unpaired);
      is_same_answer.add(any(whole, differs) == found);
      one_interval.add(std::ranges::all_of(whole, [](const Comparison& c) { return agrees(c); }));
    }
  }
  table.row(cells(kind), {any_false});
  const std::string name = fmt::format("unpaired, {}, spread {:g}: ", kind.name(), kind.spread);
  points.point(is_same_answer.value() == 1, name + "the parts say what the whole comparison says");
  points.point(one_interval.value() == 1, name + "intervals exclude 0 exactly where the answer is differs");
  if (kind.spread == 1) points.at_most(0.05, any_false, name + "any false difference");
  else if (kind.shape.symmetric) points.at_most(0.06, any_false, name + "any false difference");
}

const std::vector<Shape>& noises() {
  static const std::vector<Shape> all{normal_noise, heavy_noise, lognormal_noise, bimodal_noise};
  return all;
}

} // namespace

void paired_grid(Points& points, std::size_t sweeps, bool all) {
  Table table({"noise", "spread", "seeds", "arms", "any false *differs*", "all intervals hold",
               "where all arms differ by 3", "any false *same*", "intervals, at the margin"});
  for (const Shape& shape : noises())
    for (const double spread : {1.0, 4.0})
      for (const std::size_t seeds : {4, 6, 8, 12})
        for (const std::size_t arms : {1, 5, 10, 15, 30}) {
          if (!all && (seeds > 6 || arms == 10)) continue;
          paired_cell(points, table, {shape, seeds, arms, shape.name, 30, spread}, sweeps);
        }
  table.print();
}

void unpaired_grid(Points& points, std::size_t sweeps, bool all) {
  Table table({"noise, unpaired", "arms' spread", "runs each", "arms", "any false *differs*"});
  for (const Shape& shape : noises())
    for (const double spread : {1.0, 4.0, 10.0})
      for (const std::size_t seeds : {4, 5, 6, 8})
        for (const std::size_t arms : {1, 5, 10, 15, 30}) {
          if (arms > 5 && (!all || seeds > 6)) continue; // eight runs have 12,870 permutations
          if (!all && seeds > 5) continue;
          if (smallest_unpaired_p(seeds, seeds) * static_cast<double>(arms) > significance_level) continue;
          unpaired_cell(points, table, {shape, seeds, arms, shape.name, 31, spread, false}, sweeps);
        }
  table.print();
}

void smallest_differences(Points& points, std::size_t sweeps, bool all) {
  Table table({"test", "seeds", "arms", "undecided", "power at the stated difference is at least 0.75"});
  for (const Test test : {Test::paired, Test::unpaired})
    for (const std::size_t seeds : {6, 8, 12})
      for (const std::size_t arms : {1, 4, 10}) {
        if (!all && (seeds > 8 || arms > 4)) continue;
        if (test == Test::unpaired && (seeds > 8 || arms > 4)) continue; // takes long
        const Kind kind{normal_noise, seeds, arms, "normal", 32, 1, test == Test::paired};
        // The least effect, in true standard deviations, with a power of 0.75: by bisection.
        const SweepSize size{seeds, arms, significance_level};
        double low = 0, high = 20;
        for (int i = 0; i < 30; ++i) {
          const double middle = (low + high) / 2;
          const double power = test == Test::paired ? paired_power_of(middle, size) : unpaired_power_of(middle, size);
          (power < 0.75 ? low : high) = middle;
        }
        const double least = high * (test == Test::paired ? deviation : 1);
        Rate undecided, enough;
        for (std::size_t number = 0; number < sweeps; ++number) {
          ReportData report = report_of(draw_sweep(kind, number));
          report.test = test;
          const ReportData data = answered(std::move(report));
          std::size_t open = 0, stated = 0, found = 0;
          for (const ReportArm& arm : data.arms) {
            open += arm.comparison && arm.comparison->answer == Answer::undecided;
            stated += arm.smallest_found.has_value();
            found += arm.smallest_found && *arm.smallest_found >= least;
          }
          undecided.add(static_cast<double>(open) / static_cast<double>(arms));
          if (stated > 0) enough.add(static_cast<double>(found) / static_cast<double>(stated));
        }
        const std::string name = test == Test::paired ? "paired" : "unpaired";
        table.row({name, fmt::to_string(seeds), fmt::to_string(arms)}, {undecided, enough});
        points.at_least(0.8, enough,
                        fmt::format("{}, {}: the stated difference has a power of 0.75", name, kind.name()));
      }
  table.print();
}

void rare_failures(Points& points, std::size_t sweeps) {
  constexpr double share = 0.1, fall = 80, margin = 5; // in standard deviations of a run
  Table table({"runs that fall", "seeds", "arms", "any false *same*", "no run of an arm fell"});
  for (const std::size_t seeds : {6, 8, 12})
    for (const std::size_t arms : {1, 5}) {
      const Kind kind{normal_noise, seeds, arms, "normal", 33};
      Rate false_same, none_fell;
      for (std::size_t number = 0; number < sweeps; ++number) {
        RandomSource random = kind.random(number);
        auto noise = draw_noise(kind, random);
        std::size_t whole = 0;
        for (std::size_t arm = 1; arm <= arms; ++arm) {
          const auto before = noise[arm];
          for (double& x : noise[arm]) x -= random.uniform() < share ? fall : 0;
          whole += noise[arm] == before;
        }
        false_same.add(any(ask_quickly(sweep_of(kind, noise, random), margin / deviation), same));
        none_fell.add(static_cast<double>(whole) / static_cast<double>(arms));
      }
      table.row({fmt::format("{:g} %", 100 * share), fmt::to_string(seeds), fmt::to_string(arms)},
                {false_same, none_fell});
      points.about(std::pow(1 - share, static_cast<double>(seeds)), none_fell,
                   fmt::format("{} seeds, {} arm{}: no run of a tenth falls", seeds, arms, arms > 1 ? "s" : ""));
    }
  table.print();
}

} // namespace heed::simulation
