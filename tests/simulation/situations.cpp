#include "tests/simulation/situations.hpp"

#include "experiments/report/failed_seeds.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/statistics/distributions.hpp"
#include "tests/simulation/answers.hpp"
#include "tests/simulation/sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heed::simulation {

namespace {

/// Whether any arm has an answer with the property.
template <class Holds> bool any_arm(const ReportData& report, const Holds& holds) {
  return std::ranges::any_of(report.arms,
                             [&](const ReportArm& arm) { return arm.comparison && holds(*arm.comparison); });
}

Kind normal(std::size_t seeds, std::size_t arms, std::uint64_t draws) {
  return {normal_noise, seeds, arms, "normal", draws};
}

} // namespace

// ---- planned looks -------------------------------------------------------------------------------------------------

void looks(Points& points, std::size_t sweeps) {
  Table table({"looks", "arms", "any false *differs*", "any false *same*", "*differs*, effect 1", "at the first look",
               "effect 2", "at the first look"});
  for (const std::vector<std::size_t>& planned : {std::vector<std::size_t>{6, 10}, {6, 8, 10}})
    for (const std::size_t arms : {1, 3}) {
      const Kind kind = normal(10, arms, 20);
      Rate any_false, false_same, one_found, one_first, two_found, two_first;
      const auto asked = [&](const Sweep& sweep, std::optional<double> margin = {}) {
        ReportData report = report_of(sweep, margin);
        report.looks = planned;
        return answered(std::move(report));
      };
      const auto count = [&](const ReportData& report, Rate& found, Rate& first) {
        double all = 0, early = 0;
        for (const ReportArm& arm : report.arms)
          if (arm.comparison && differs(*arm.comparison)) {
            all += 1;
            early += arm.look == planned.front();
          }
        found.add(all / static_cast<double>(arms));
        first.add(early / static_cast<double>(arms));
      };
      for (std::size_t number = 0; number < sweeps; ++number) {
        const Sweep alike = draw_sweep(kind, number);
        any_false.add(any_arm(asked(alike), differs));
        false_same.add(any_arm(asked(moved(alike, 2), 2 * deviation), same));
        count(asked(moved(alike, 1)), one_found, one_first);
        count(asked(moved(alike, 2)), two_found, two_first);
      }
      const std::string name = fmt::format("{}", fmt::join(planned, ", "));
      table.row({name, fmt::to_string(arms)}, {any_false, false_same, one_found, one_first, two_found, two_first});
      const std::string where = fmt::format("looks at {}, {} arm{}: ", name, arms, arms > 1 ? "s" : "");
      points.at_most(0.05, any_false, where + "any false difference at any look");
      points.at_most(0.05, false_same, where + "any false same at any look");
    }
  table.print();
}

// ---- unpaired arms of different sizes ------------------------------------------------------------------------------

void different_sizes(Points& points, std::size_t sweeps) {
  Table table({"noise", "arm's spread", "runs: arm, reference", "arms", "any false *differs*", "any false *same*",
               "all intervals hold", "*differs*, effect 2"});
  for (const Shape& shape : {normal_noise, skewed_noise})
    for (const double spread : {1.0, 4.0, 0.25})
      for (const auto& [n, m] : std::vector<std::pair<std::size_t, std::size_t>>{{4, 8}, {6, 8}})
        for (const std::size_t arms : {1, 3}) {
          Rate any_false, false_same, all_hold, found;
          const Kind kind{shape, m, arms, shape.name, 21, spread, false};
          const double unit = std::sqrt(1 + spread * spread); // the standard deviation of a difference of two runs
          for (std::size_t number = 0; number < sweeps; ++number) {
            RandomSource random = kind.random(number);
            Sweep alike(arms + 1);
            const auto noise = draw_noise(kind, random);
            for (std::size_t arm = 0; arm <= arms; ++arm)
              for (std::size_t i = 0; i < (arm == 0 ? m : n); ++i) {
                alike[arm].seeds.push_back(static_cast<std::int64_t>(i));
                alike[arm].values.push_back(noise[arm][i]);
              }
            const auto by = [&](double effect) { return moved(alike, effect * unit / deviation); };
            const Answers none = ask(alike, {}, Test::unpaired);
            any_false.add(any(none, differs));
            all_hold.add(std::ranges::all_of(none, [](const Comparison& c) { return !c.interval || covers(c, 0); }));
            false_same.add(any(ask(by(2), 2 * unit / deviation, Test::unpaired), same));
            found.add(share(ask(by(2), {}, Test::unpaired), differs));
          }
          const std::string sizes = fmt::format("{}, {}", n, m);
          table.row({shape.name + (shape.symmetric ? "" : ", known"), fmt::format("{:g}", spread), sizes,
                     fmt::to_string(arms)},
                    {any_false, false_same, all_hold, found});
          if (!shape.symmetric && spread != 1) continue; // no guarantee
          const std::string where = fmt::format("unpaired, {}, spread {:g}, {} runs, {} arm{}: ", shape.name, spread,
                                                sizes, arms, arms > 1 ? "s" : "");
          // exact where spreads are equal, by Welch's t elsewhere
          const double level = spread == 1 ? 0.05 : arms == 1 ? 0.06 : 0.08;
          points.at_most(level, any_false, where + "any false difference");
          points.at_most(level, false_same, where + "any false same");
          points.at_least(1 - level, all_hold, where + "all intervals hold");
        }
  table.print();
}

// ---- targets that runs do not reach --------------------------------------------------------------------------------

void targets(Points& points, std::size_t sweeps) {
  Table table({"do not reach it", "seeds", "test", "false *differs*", "false *same*", "twice as fast: *differs*",
               "ranks and mean contradict"});
  constexpr double step = 10, horizon = 1000;
  for (const double never : {0.31, 0.79})
    for (const std::size_t seeds : {6, 8})
      for (const Test test : {Test::paired, Test::unpaired}) {
        const double beyond = statistics::normal_quantile(1 - never);
        const auto draw = [&](std::size_t number, double factor) {
          RandomSource random({static_cast<std::uint64_t>(never * 100) * 100 + seeds, heed::Stream::test, number});
          Sweep out(2);
          for (std::size_t seed = 0; seed < seeds; ++seed)
            for (std::size_t arm = 0; arm < 2; ++arm) {
              // lognormal steps; `never` of the runs are beyond the horizon
              const double steps = horizon * std::exp(random.normal() - beyond) / (arm == 1 ? factor : 1);
              out[arm].seeds.push_back(static_cast<std::int64_t>(seed));
              out[arm].values.push_back(std::min(horizon + step, step * std::ceil(steps / step)));
            }
          ReportData report = report_of(out, 200.0);
          report.metric = {"steps_to(val_loss, 1)", Direction::lower, "steps", "steps", 0, horizon + step};
          report.test = test;
          return answered(std::move(report)).arms[1].comparison.value();
        };
        Rate any_false, false_same, found, contradict;
        for (std::size_t number = 0; number < sweeps; ++number) {
          const Comparison none = draw(number, 1), twice = draw(number, 2);
          any_false.add(differs(none));
          // an arm that is slower by more than the margin, in the median
          const Comparison slower = draw(number, 0.5);
          false_same.add(same(slower));
          found.add(differs(twice));
          contradict.add(none.contradicts || twice.contradicts);
        }
        const std::string name = test == Test::paired ? "paired" : "unpaired";
        table.row({fmt::format("{:.0f} %", 100 * never), fmt::to_string(seeds), name},
                  {any_false, false_same, found, contradict});
        const std::string where = fmt::format("steps_to, {:.0f} % censored, {} seeds, {}: ", 100 * never, seeds, name);
        points.at_most(0.05, any_false, where + "a false difference");
        points.at_most(0.05, false_same, where + "a false same of an arm that takes twice as long");
      }
  table.print();
}

// ---- tuned arms ----------------------------------------------------------------------------------------------------

namespace {

/// A sweep whose arms choose among five settings. Setting v costs `curvature` (v - best)^2 standard deviations of a
/// run, with the same best setting for all arms.
ReportData draw_tuned(std::size_t seeds, std::size_t tuning_seeds, double curvature, double effect,
                      RandomSource random) {
  constexpr std::size_t settings = 5;
  const double best = 1.5 + random.uniform();
  Sweep sweep(2);
  std::vector<ArmTuning> tuned(2);
  std::vector<double> of_seed;
  for (std::size_t i = 0; i < seeds; ++i) of_seed.push_back(random.normal());
  for (std::size_t arm = 0; arm < 2; ++arm) {
    const auto value = [&](std::size_t v) {
      return (arm == 1 ? effect : 0) - curvature * (static_cast<double>(v) - best) * (static_cast<double>(v) - best);
    };
    std::size_t chosen = 0;
    for (std::size_t v = 0; v < settings; ++v) {
      double mean = value(v);
      for (std::size_t i = 0; i < tuning_seeds; ++i) mean += random.normal() / static_cast<double>(tuning_seeds);
      Trial& trial = tuned[arm].trials.emplace_back();
      trial.value = mean;
      if (mean > *tuned[arm].trials[chosen].value) chosen = v;
    }
    tuned[arm].chosen = chosen;
    for (std::size_t i = 0; i < seeds; ++i) {
      sweep[arm].seeds.push_back(static_cast<std::int64_t>(i));
      sweep[arm].values.push_back(of_seed[i] + value(chosen) + random.normal());
    }
  }
  ReportData report = report_of(sweep);
  report.tuning = Tuning{};
  report.tuning->seeds.resize(tuning_seeds);
  report.tuning->arms = std::move(tuned);
  return report;
}

} // namespace

void tuned_arms(Points& points, std::size_t sweeps) {
  Table table({"curvature", "tuning seeds", "seeds", "false *differs*", "of all sweeps: and holds with the choices",
               "effect 3: *differs*", "and holds"});
  for (const double curvature : {0.3, 1.0, 3.0})
    for (const std::size_t tuning_seeds : {1, 2, 5})
      for (const std::size_t seeds : {6, 12}) {
        Rate any_false, still, found, holds;
        for (std::size_t number = 0; number < sweeps; ++number)
          for (const double effect : {0.0, 3.0}) {
            const ReportArm arm = answered(draw_tuned(seeds, tuning_seeds, curvature, effect,
                                                      RandomSource({22 * 1000 + seeds * 10 + tuning_seeds,
                                                                    heed::Stream::test, number})))
                                      .arms[1];
            const bool is_found = differs(*arm.comparison),
                       stays = is_found && arm.p_choices.value_or(1) <= significance_level;
            (effect == 0 ? any_false : found).add(is_found);
            (effect == 0 ? still : holds).add(stays);
          }
        table.row({fmt::format("{:g}", curvature), fmt::to_string(tuning_seeds), fmt::to_string(seeds)},
                  {any_false, still, found, holds});
        const std::string where = fmt::format("tuned, curvature {:g}, {} tuning seeds, {} seeds: ", curvature,
                                              tuning_seeds, seeds);
        points.at_most(0.06, still, where + "a false difference that holds with the choices");
      }
  table.print();
}

// ---- several metrics -----------------------------------------------------------------------------------------------

void further_metrics(Points& points, std::size_t sweeps) {
  Table table({"metrics", "seeds", "arms", "any false *differs*, any metric", "of the others beside one that differs"});
  for (const std::size_t metrics : {2, 4})
    for (const std::size_t seeds : {6, 8})
      for (const std::size_t arms : {1, 3}) {
        const Kind kind = normal(seeds, arms, 23);
        Rate any_false, others;
        for (std::size_t number = 0; number < sweeps; ++number) {
          RandomSource random = kind.random(number);
          ReportData report = report_of(draw_sweep(kind, number));
          for (std::size_t m = 1; m < metrics; ++m) report.also.push_back(report.metric);
          for (ReportArm& arm : report.arms)
            for (ReportRun& run : arm.runs)
              for (std::size_t m = 1; m < metrics; ++m)
                run.also.emplace_back(*run.value + random.normal()); // correlated with the first
          const auto any_of = [](const ReportData& of) {
            return std::ranges::any_of(of.arms, [](const ReportArm& arm) {
              return std::ranges::any_of(arm.also, [](const FurtherResult& further) {
                return further.comparison && differs(*further.comparison);
              });
            });
          };
          const ReportData none = answered(report);
          any_false.add(any_arm(none, differs) || any_of(none));
          for (std::size_t arm = 1; arm <= arms; ++arm)
            for (ReportRun& run : report.arms[arm].runs) *run.value += 3 * deviation;
          others.add(any_of(answered(report)));
        }
        table.row({fmt::to_string(metrics), fmt::to_string(seeds), fmt::to_string(arms)}, {any_false, others});
        const std::string where = fmt::format("{} metrics, {} seeds, {} arm{}: ", metrics, seeds, arms,
                                              arms > 1 ? "s" : "");
        points.at_most(0.05, any_false, where + "any false difference");
        points.at_most(0.05, others, where + "a false difference beside true ones");
      }
  table.print();
}

// ---- crossed options -----------------------------------------------------------------------------------------------

void crossed_options(Points& points, std::size_t sweeps) {
  Table table({"options crossed", "seeds", "any false interaction", "any false *same*",
               "an interaction of 2 is found"});
  for (const std::size_t values : {1, 2})
    for (const std::size_t seeds : {6, 8}) {
      // the reference; a = 1; b = 1, 2; and both
      const Kind kind = normal(seeds, 1 + 2 * values, 24);
      // an interaction is a difference of two differences, whose standard deviation is `between`
      const double between = std::sqrt(2.0) * deviation;
      Rate any_false, false_same, found;
      for (std::size_t number = 0; number < sweeps; ++number) {
        const auto asked = [&](double interaction, std::optional<double> margin) {
          ReportData report = report_of(draw_sweep(kind, number), margin);
          const auto set = [&](std::size_t arm, std::size_t a, std::size_t b) {
            if (a > 0) report.arms[arm].changes.push_back({"a", fmt::to_string(a)});
            if (b > 0) report.arms[arm].changes.push_back({"b", fmt::to_string(b)});
            for (ReportRun& run : report.arms[arm].runs)
              *run.value += 1.5 * static_cast<double>(a) - static_cast<double>(b) + (a > 0 && b > 0 ? interaction : 0);
          };
          set(1, 1, 0);
          for (std::size_t b = 1; b <= values; ++b) {
            set(2 * b, 0, b);
            set(2 * b + 1, 1, b);
          }
          return answered(std::move(report)).interactions;
        };
        const auto any_with = [](const std::vector<Interaction>& of, const auto& holds) {
          return std::ranges::any_of(of, [&](const Interaction& one) { return holds(one.comparison); });
        };
        any_false.add(any_with(asked(0, {}), differs));
        false_same.add(any_with(asked(2 * between, 2 * between), same));
        found.add(any_with(asked(2 * between, {}), differs));
      }
      table.row({fmt::format("1 by {}", values), fmt::to_string(seeds)}, {any_false, false_same, found});
      const std::string where = fmt::format("interactions, 1 by {}, {} seeds: ", values, seeds);
      points.at_most(0.05, any_false, where + "any false interaction");
      points.at_most(0.05, false_same, where + "any false same");
    }
  table.print();
}

/// Two groups of equal arms: false answers of arms and interactions together.
void groups(Points& points, std::size_t sweeps) {
  Table table({"groups", "arms of each", "seeds", "test", "any false finding"});
  for (const Test test : {Test::paired, Test::unpaired})
    for (const std::size_t seeds : {6, 8}) {
      constexpr std::size_t of_each = 3;
      const Kind kind{normal_noise, seeds, 2 * (of_each + 1) - 1, "normal", 25, 1, test == Test::paired};
      Rate any_false;
      for (std::size_t number = 0; number < sweeps; ++number) {
        ReportData report = report_of(draw_sweep(kind, number));
        report.test = test;
        report.within.push_back({"group", "group"});
        for (std::size_t i = 0; i < report.arms.size(); ++i) {
          const std::size_t group = i / (of_each + 1);
          report.arms[i].group = {fmt::to_string(group)};
          report.arms[i].name = fmt::format("arm {}", i % (of_each + 1));
          report.arms[i].reference = group * (of_each + 1);
        }
        const ReportData data = answered(std::move(report));
        any_false.add(any_arm(data, differs) || std::ranges::any_of(data.interactions, [](const Interaction& of) {
                        return differs(of.comparison);
                      }));
      }
      const std::string name = test == Test::paired ? "paired" : "unpaired";
      table.row({"2", fmt::to_string(of_each), fmt::to_string(seeds), name}, {any_false});
      points.at_most(0.05, any_false, fmt::format("groups, {} seeds, {}: any false finding", seeds, name));
    }
  table.print();
}

// ---- shares of seeds in several arms -------------------------------------------------------------------------------

void shares_of_arms(Points& points, std::size_t sweeps) {
  Table table({"learn, all arms", "seeds", "arms", "any p <= 0.05 (Fisher, Holm)", "with a threshold that is found"});
  for (const double learn : {0.5, 0.8})
    for (const std::size_t seeds : {8, 12})
      for (const std::size_t arms : {5, 20}) {
        Rate stated, seen;
        for (std::size_t number = 0; number < sweeps; ++number) {
          RandomSource random({static_cast<std::uint64_t>(learn * 100) * 1000 + seeds * 30 + arms, heed::Stream::test,
                               number});
          Sweep sweep(arms + 1);
          for (SeedValues& arm : sweep)
            for (std::size_t i = 0; i < seeds; ++i) {
              arm.seeds.push_back(static_cast<std::int64_t>(i));
              arm.values.push_back(draw_heaps(random, learn));
            }
          for (const bool is_stated : {true, false}) {
            ReportData report = report_of(sweep);
            if (is_stated) report.learned = between_heaps / 2;
            count_learned(report);
            (is_stated ? stated : seen).add(std::ranges::any_of(report.arms, [](const ReportArm& arm) {
              return arm.learned && arm.learned->p <= significance_level;
            }));
          }
        }
        table.row({fmt::format("{:.0f} %", 100 * learn), fmt::to_string(seeds), fmt::to_string(arms)}, {stated, seen});
        const std::string where = fmt::format("shares, {:g} learn, {} seeds, {} arms: ", learn, seeds, arms);
        points.at_most(0.05, stated, where + "any false difference by Fisher's test");
        points.at_most(0.05, seen, where + "any, between heaps that are seen");
      }
  table.print();
}

} // namespace heed::simulation
