#include "experiments/report/interactions.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/arm_notes.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/sweep/matching.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <tuple>

namespace heed {

namespace {

/// What crossing needs to know of an arm.
struct CrossedArm {
  std::string name;                   ///< within its group
  std::size_t reference = 0;          ///< its own index: it is a reference
  std::vector<PlannedChange> changes; ///< its own, without those of its group and of matching
};

std::vector<PlannedChange> own_changes(const std::vector<PlannedChange>& changes,
                                       const std::vector<PlannedOption>& within, const std::string& match) {
  std::vector<PlannedChange> out;
  for (const PlannedChange& change : changes) {
    const bool makes_group = std::ranges::any_of(within,
                                                 [&](const PlannedOption& option) { return option.key == change.key; });
    if (!makes_group && !(match != "none" && change.key == matched_option(match))) out.push_back(change);
  }
  return out;
}

/// The arms of each interaction: one that changes two options, and the two that change each of them.
struct Crossed {
  std::size_t both = 0, first = 0, second = 0;
};

std::vector<Crossed> crossed_options(const std::vector<CrossedArm>& arms) {
  std::map<std::tuple<std::size_t, std::string, std::string>, std::size_t> singles; // by reference, key and value
  for (std::size_t i = 0; i < arms.size(); ++i)
    if (const auto& changes = arms[i].changes; changes.size() == 1 && arms[i].reference != i)
      singles.emplace(std::tuple(arms[i].reference, changes[0].key, changes[0].value), i);
  std::vector<Crossed> out;
  for (std::size_t both = 0; both < arms.size(); ++both) {
    const auto& changes = arms[both].changes;
    if (arms[both].reference == both || changes.size() != 2) continue;
    const auto first = singles.find({arms[both].reference, changes[0].key, changes[0].value}),
               second = singles.find({arms[both].reference, changes[1].key, changes[1].value});
    if (first != singles.end() && second != singles.end()) out.push_back({both, first->second, second->second});
  }
  return out;
}

/// Each arm of a later group, and the same arm of the first group that has it.
std::vector<std::pair<std::size_t, std::size_t>> crossed_groups(const std::vector<CrossedArm>& arms) {
  std::map<std::string, std::size_t> firsts; // by name
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (arms[i].reference == i) continue;
    const auto [first, is_new] = firsts.emplace(arms[i].name, i);
    if (!is_new) out.emplace_back(i, first->second);
  }
  return out;
}

std::map<std::int64_t, double> values_by_seed(const ReportArm& arm) {
  std::map<std::int64_t, double> out;
  for (const ReportRun& run : arm.runs)
    if (run.value && !run.is_left_out()) out[run.seed] = *run.value;
  return out;
}

/// Four arms with the contrast (with - with_base) - (alone - base).
struct Contrast {
  Interaction of;
  const ReportArm *with, *with_base, *alone, *base;
};

/// The rounding error of a contrast: that of the largest value in it.
double rounding_of(const ReportData& report, const Contrast& contrast) {
  double largest = 0;
  for (const ReportArm* arm : {contrast.with, contrast.with_base, contrast.alone, contrast.base})
    for (const auto& [seed, value] : values_by_seed(*arm)) largest = std::max(largest, std::abs(value));
  return report.resolution * largest;
}

/// For each common seed: the effect of the option with the other option, and its effect without.
std::pair<statistics::SeedValues, statistics::SeedValues> effects(const Contrast& contrast) {
  const auto with = values_by_seed(*contrast.with), with_base = values_by_seed(*contrast.with_base),
             alone = values_by_seed(*contrast.alone), base = values_by_seed(*contrast.base);
  std::pair<statistics::SeedValues, statistics::SeedValues> out;
  for (const auto& [seed, value] : with) {
    if (!with_base.contains(seed) || !alone.contains(seed) || !base.contains(seed)) continue;
    out.first.seeds.push_back(seed);
    out.first.values.push_back(value - with_base.at(seed));
    out.second.values.push_back(alone.at(seed) - base.at(seed));
  }
  out.second.seeds = out.first.seeds;
  return out;
}

std::vector<CrossedArm> crossed_arms(const ReportData& report) {
  std::vector<CrossedArm> out;
  for (const ReportArm& arm : report.arms)
    out.push_back({arm.short_label(), arm.reference, own_changes(arm.changes, report.within, report.match)});
  return out;
}

/// Adds contrasts for arms that change two options, if each option is also changed in an arm of its own.
void add_crossed(const ReportData& report, const std::vector<CrossedArm>& arms, std::vector<Contrast>& out) {
  for (const auto& [both, first, second] : crossed_options(arms)) {
    const ReportArm &with = report.arms[both], &one = report.arms[first], &other = report.arms[second];
    out.push_back({{.option = one.short_label(),
                    .with = other.short_label(),
                    .true_option = one.true_short_label(),
                    .true_with = other.true_short_label(),
                    .without = "by itself",
                    .group = report.group_label(with)},
                   &with,
                   &other,
                   &one,
                   &report.arms[with.reference]});
  }
}

/// Adds contrasts between an arm of a group and the same arm of the first group.
void add_groups(const ReportData& report, const std::vector<CrossedArm>& arms, std::vector<Contrast>& out) {
  if (report.within.empty()) return;
  for (const auto& [at, in_first] : crossed_groups(arms)) {
    const ReportArm &arm = report.arms[at], &first = report.arms[in_first];
    out.push_back({{.option = arm.short_label(),
                    .with = report.group_label(arm),
                    .true_option = arm.true_short_label(),
                    .true_with = report.group_label(arm),
                    .without = fmt::format("with {}", report.group_label(first)),
                    .group = ""},
                   &arm,
                   &report.arms[arm.reference],
                   &first,
                   &report.arms[first.reference]});
  }
}

std::string compared_sentence(const ReportData& report, const Interaction& interaction) {
  const statistics::Comparison& c = interaction.comparison;
  const std::string unit = unit_of(report.metric), n = fmt::format("{}", c.seeds.size());
  const Decimals decimals = decimals_showing(c, own_decimals(c));
  const std::string who = fmt::format("Interaction: {}the effect of {} is {}{} {} and {}{} with {}",
                                      interaction.group.empty() ? "" : fmt::format("at {}, ", interaction.group),
                                      interaction.option, signed_fixed(interaction.effect_without, decimals), unit,
                                      interaction.without, signed_fixed(interaction.effect_with, decimals), unit,
                                      interaction.with);
  if (equal_in_all_seeds(c)) return fmt::format("{}: the same in all {} seeds.", who, n);
  const std::string change = signed_difference(c, unit, decimals);
  switch (c.answer) {
    case statistics::Answer::better:
    case statistics::Answer::not_worse:
    case statistics::Answer::worse: break; // is not asked of a change
    case statistics::Answer::differs:
      return fmt::format("{}; this change, {}, is found, p {}, n = {}.", who, change, p_with_relation(*c.p), n);
    case statistics::Answer::same:
      return fmt::format("{}; this change, {}, is within {:g}, p {} (equivalence), n = {}.", who, change,
                         *report.margin, p_with_relation(c.p_equivalence_flips.value_or(1)), n);
    case statistics::Answer::undecided:
      return fmt::format("{}; no change is shown: {}, p {}, n = {}.", who, change, p_with_relation(c.p.value_or(1)), n);
    case statistics::Answer::underpowered:
      return fmt::format("{}; this change, {}, is {}.", who, change,
                         underpowered_words(n, c.smallest_p, c.seeds_needed));
  }
  return "";
}

/// " 2 of these four arms are at the ceiling (heads = 8, the reference), so part of this may come from that limit." An
/// effect can't be seen where an arm is at chance, or at the metric's bound.
std::string limits_of(const ReportData& report, const Interaction& interaction) {
  std::map<Limit, std::vector<std::string>> there;
  for (const std::size_t i : interaction.arms) {
    const ReportArm& arm = report.arms[i];
    const std::string group = report.group_label(arm);
    const std::string name = report.is_reference(arm) ? "the reference" : arm.short_label();
    if (const Limit limit = limit_of(report, arm); limit != Limit::none)
      there[limit].push_back(name_in_list(group.empty() ? name : fmt::format("{} at {}", name, group)));
  }
  std::string out;
  for (const auto& [limit, names] : there)
    out += fmt::format(" {} of these four arms {} {} ({}), so part of this may come from that limit.", names.size(),
                       names.size() == 1 ? "is" : "are", place_of(limit), fmt::join(names, ", "));
  return out;
}

/// The seeds that one of the four arms lost, and whether runs that did not reach the target are in the numbers.
std::string missing_runs(const ReportData& report, const Interaction& interaction) {
  bool censored = false;
  std::set<std::int64_t> seeds, lost; // of these arms: groups of a table may have different seeds
  for (const std::size_t i : interaction.arms)
    for (const ReportRun& run : report.arms[i].runs) {
      seeds.insert(run.seed);
      if (run.is_excluded()) lost.insert(run.seed);
      censored = censored || (run.value && is_censored(report.metric, *run.value));
    }
  return (censored ? fmt::format(" Runs that did not reach the target were counted as {:g} steps.", report.metric.high)
                   : "") +
         excluded_seeds(lost.size(), seeds.size());
}

} // namespace

std::size_t interactions_planned(const Plan& plan) {
  std::vector<CrossedArm> arms;
  for (const Arm& arm : plan.arms)
    arms.push_back({arm.name.empty() ? arm.label : arm.name, arm.reference,
                    own_changes(arm.changes, plan.within, plan.match)});
  return crossed_options(arms).size() + (plan.within.empty() ? 0 : crossed_groups(arms).size());
}

Contrasts contrasts_of(const ReportData& report, double level) {
  std::vector<Contrast> contrasts;
  const std::vector<CrossedArm> crossed = crossed_arms(report);
  add_crossed(report, crossed, contrasts);
  add_groups(report, crossed, contrasts);
  // removes contrasts in which only some arms see their prediction targets
  std::erase_if(contrasts, [](const Contrast& c) {
    return std::ranges::any_of(std::array{c.with_base, c.alone, c.base},
                               [&](const ReportArm* arm) { return arm->leakage.empty() != c.with->leakage.empty(); });
  });
  Contrasts out;
  for (Contrast& contrast : contrasts) {
    poll_caller();
    auto [with, alone] = effects(contrast);
    if (with.seeds.empty()) continue;
    const std::array arms{contrast.with, contrast.with_base, contrast.alone, contrast.base};
    const bool censored = std::ranges::any_of(arms, [&](const ReportArm* arm) {
      return std::ranges::any_of(values_by_seed(*arm),
                                 [&](const auto& run) { return is_censored(report.metric, run.second); });
    });
    contrast.of.effect_without = statistics::mean(alone.values);
    contrast.of.effect_with = statistics::mean(with.values);
    for (const ReportArm* arm : arms) contrast.of.arms.push_back(static_cast<std::size_t>(arm - report.arms.data()));
    const std::size_t at = out.values.size();
    out.values.push_back(std::move(alone));
    out.values.push_back(std::move(with));
    out.reference_of.insert(out.reference_of.end(), {at, at});
    out.requests.insert(out.requests.end(), 2,
                        {.test = statistics::Test::paired,
                         .higher_is_better = report.metric.higher_is_better(),
                         .margin = censored || report.asks_not_worse() ? std::nullopt : report.margin,
                         .rounding = rounding_of(report, contrast),
                         .level = level});
    out.interactions.push_back(std::move(contrast.of));
  }
  return out;
}

std::string interaction_sentence(const ReportData& report, const Interaction& interaction) {
  poll_caller();
  return compared_sentence(report, interaction) + limits_of(report, interaction) + missing_runs(report, interaction);
}

std::vector<std::string> interaction_sentences(const ReportData& report) {
  std::vector<std::string> out;
  for (const Interaction& interaction : report.interactions) out.push_back(interaction_sentence(report, interaction));
  return out;
}

} // namespace heed
