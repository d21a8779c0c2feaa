#include "experiments/report/seed_advice.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/corrections.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/power.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <numbers>

namespace heed {

namespace {

constexpr double power = 0.8;

std::size_t compared_arms(const Plan& plan) {
  std::size_t compared = 0;
  for (std::size_t a = 0; a < plan.arms.size(); ++a) compared += plan.arms[a].reference != a;
  return compared;
}

/// The number of comparisons that p is corrected over: each arm by each metric, and the interactions.
std::size_t family_of(const Plan& plan) {
  return compared_arms(plan) * (1 + plan.also.size()) + interactions_planned(plan);
}

/// "3 arms", "3 arms by 2 metrics", "3 arms and 1 interaction".
std::string family_text(const Plan& plan) {
  std::string text = counted(compared_arms(plan), "arm");
  if (!plan.also.empty()) text += fmt::format(" by {} metrics", 1 + plan.also.size());
  if (const std::size_t n = interactions_planned(plan); n > 0) text += " and " + counted(n, "interaction");
  return text;
}

/// The level of the answers at all seeds: with planned looks, the level of the last look.
double level_of(const Plan& plan) {
  return plan.looks.empty() ? statistics::significance_level : statistics::look_levels(plan.looks).back();
}

/// "         looks at 6, 10 seeds, where p may be 0.0354, 0.0146: 5 % together".
std::string looks_line(const Plan& plan) {
  if (plan.looks.empty()) return "";
  return fmt::format("  looks    at {} seeds, where p may be {}: {:.0f} % together\n", fmt::join(plan.looks, ", "),
                     joined(statistics::look_levels(plan.looks), ", ", level_text),
                     100 * statistics::significance_level);
}

bool unpaired(const Plan& plan) { return plan.test == "unpaired"; }

std::string first_line(const Plan& plan) {
  const std::size_t seeds = plan.seeds.size();
  const double sides = plan.asks_not_worse() ? 0.5 : 1; // a one-sided p can be half as large
  double smallest = sides * statistics::smallest_p(seeds);
  std::size_t needed = statistics::seeds_for_level(level_of(plan) / sides);
  if (unpaired(plan)) {
    const auto corrected = [&](std::size_t n) {
      const std::size_t family = plan.asks_not_worse() ? compared_arms(plan) : family_of(plan);
      return std::min(1.0, sides * static_cast<double>(family) * statistics::smallest_unpaired_p(n, n));
    };
    smallest = corrected(seeds);
    for (needed = 1; corrected(needed) > level_of(plan);) ++needed;
  }
  if (seeds < needed) return underpowered_words(fmt::format("{}", seeds), smallest, needed);
  return fmt::format("smallest possible p with {}: {}", counted(seeds, "seed"), probability(smallest));
}

std::string per_cent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string paragraph(const std::string& text) { return wrapped(text, 104, "  ", "  "); }

/// A sentence about which test has more power for these effects, and its assumptions.
std::string which_finds_more(const Plan& plan, const std::vector<EffectRow>& rows) {
  double paired = 0, other = 0;
  for (const EffectRow& row : rows) {
    paired += row.power_paired;
    other += row.power_unpaired;
  }
  constexpr double much = 0.02; // simulated power has about this error
  const double more = (other - paired) / static_cast<double>(rows.size());
  const char* which = more > much    ? "the unpaired test finds more"
                      : more < -much ? "the paired test finds more even then"
                                     : "both tests find as much";
  const std::size_t family = family_of(plan);
  return paragraph(fmt::format("unpaired: seeds and power of the unpaired test{}, if runs with the same seed are no "
                               "more alike than runs with different seeds. Then {} with {} seeds. The more alike runs "
                               "with the same seed are, the more the paired test finds. This plan uses the {} test; to "
                               "change it, set [report] test before the runs.",
                               family > 1 ? ", in a sweep of " + family_text(plan) : "", which, plan.seeds.size(),
                               plan.test));
}

} // namespace

std::vector<EffectRow> effect_rows(const Plan& plan, std::optional<double> effect) {
  const std::size_t compared = compared_arms(plan);
  if (compared == 0) return {};
  const std::size_t family = family_of(plan);
  const statistics::SweepSize sweep{plan.seeds.size(), family, level_of(plan)},
      by_margin{plan.seeds.size(), compared + interactions_planned(plan), level_of(plan)}, // of the first metric
      arms_only{plan.seeds.size(), compared, level_of(plan)};
  std::vector<EffectRow> rows;
  for (const double size : effect ? std::vector{*effect} : std::vector{0.5, 1.0, 1.5, 2.0}) {
    const double apart = std::numbers::sqrt2 * size; // in standard deviations of an arm
    EffectRow& row = rows.emplace_back();
    row.effect = size;
    row.seeds = statistics::seeds_for_effect(size, power, sweep.level);
    row.seeds_each = statistics::seeds_for_effect(size, power, sweep.level, family);
    row.seeds_unpaired = statistics::unpaired_seeds_for_effect(apart, power, sweep.level, family);
    row.power_paired = statistics::paired_power_of(size, sweep);
    row.power_unpaired = statistics::unpaired_power_of(apart, sweep);
    if (plan.margin && plan.asks_not_worse())
      row.not_worse = unpaired(plan) ? statistics::unpaired_noninferiority_of(apart, arms_only)
                                     : statistics::paired_noninferiority_of(size, arms_only);
    else if (plan.margin)
      row.same = unpaired(plan) ? statistics::unpaired_sameness_of(apart, by_margin)
                                : statistics::paired_sameness_of(size, by_margin);
  }
  return rows;
}

std::string seed_advice(const Plan& plan, std::optional<double> effect) {
  const std::vector<EffectRow> rows = effect_rows(plan, effect);
  if (rows.empty()) return "";
  const std::size_t family = family_of(plan);

  TextTable table;
  const auto column = [&](std::string heading, const std::function<std::string(const EffectRow&)>& cell) {
    table.add_column(std::move(heading));
    table.rows.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].push_back(cell(rows[i]));
  };
  const auto count = [](std::size_t n) { return with_commas(static_cast<std::int64_t>(n)); };
  column("effect d_z", [](const EffectRow& row) { return fmt::format("{:g}", row.effect); });
  column(family > 1 ? "seeds, 1 arm" : "seeds", [&](const EffectRow& row) { return count(row.seeds); });
  if (family > 1) column("seeds, " + family_text(plan), [&](const EffectRow& row) { return count(row.seeds_each); });
  column("seeds, unpaired", [&](const EffectRow& row) { return count(row.seeds_unpaired); });
  column(fmt::format("power, n = {}", plan.seeds.size()),
         [](const EffectRow& row) { return per_cent(row.power_paired); });
  column("power, unpaired", [](const EffectRow& row) { return per_cent(row.power_unpaired); });
  if (plan.asks_not_worse())
    column("not worse", [](const EffectRow& row) { return per_cent(row.not_worse.value_or(0)); });
  else if (plan.margin) column("same", [](const EffectRow& row) { return per_cent(row.same.value_or(0)); });

  std::string text = fmt::format("  seeds    {}\n{}\n{}\n", first_line(plan), looks_line(plan), to_text(table));
  text += paragraph("d_z: the size of an effect. It is the mean of an arm's differences from the reference / the "
                    "standard deviation of these differences.");
  text += paragraph(
      fmt::format("seeds: about how many seeds find such an effect in {:.0f} of 100 sweeps at p <= {}{}{}.",
                  100 * power, level_text(level_of(plan)), plan.looks.empty() ? "" : " (the last look's level)",
                  family > 1 ? fmt::format(", in a sweep that compares 1 arm, or {}", family_text(plan)) : ""));
  text += paragraph(fmt::format("power: in how many of 100 sweeps {} find such an effect{}.",
                                counted(plan.seeds.size(), "seed"),
                                family > 1 ? fmt::format(" of one arm, if the sweep compares {}", family_text(plan))
                                           : ""));
  text += which_finds_more(plan, rows);
  if (plan.asks_not_worse())
    text += paragraph(fmt::format(
        "not worse: in how many of 100 sweeps an arm without any difference is called not worse (or better), if the "
        "margin, {:g}, is d_z standard deviations of the differences. This is what the plan asks of the arms; the "
        "other "
        "columns are of differences of either sign.",
        plan.margin.value_or(0)));
  else if (plan.margin)
    text +=
        paragraph(fmt::format("same: in how many of 100 sweeps an arm without any difference is called the same, if "
                              "the margin, {:g}, is d_z standard deviations of the differences.",
                              *plan.margin));
  return text;
}

} // namespace heed
