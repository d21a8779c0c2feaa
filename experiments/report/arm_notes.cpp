#include "experiments/report/arm_notes.hpp"

#include "experiments/report/numbers.hpp"
#include "experiments/statistics/spreads.hpp"
#include "experiments/statistics/tuning_choice.hpp"
#include "experiments/sweep/matching.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace heed {

namespace {

bool is_formula(const std::string& key) { return key.ends_with("score_mod") || key.ends_with("mask_mod"); }

/// The tables of the arm's formulas that its label does not state: "attention.".
std::set<std::string> tables_of_formulas(const ReportArm& arm) {
  std::set<std::string> out;
  for (const PlannedChange& change : arm.changes)
    if (is_formula(change.key) && !change.value.empty() && arm.label.find(change.value) == std::string::npos)
      out.insert(change.key.substr(0, change.key.rfind('.') + 1));
  return out;
}

/// Empty if the noise of a run is unknown.
std::optional<statistics::TuningChoice> choice_of(const ReportData& report, std::size_t arm) {
  const Tuning& tuning = *report.tuning;
  const std::optional<double> deviation = report.arms[arm].standard_deviation;
  std::vector<double> results;
  for (const Trial& trial : tuning.arms[arm].trials)
    if (trial.value && std::isfinite(*trial.value)) results.push_back(*trial.value);
  if (results.empty() || !deviation) return std::nullopt;
  return statistics::tuning_choice(results, *deviation, tuning.seeds.size(), report.metric.higher_is_better());
}

/// The squared standard error of the arm's difference, and its degrees of freedom.
struct Error {
  double square = 0, freedom = 1;
};

Error error_of(const ReportArm& arm, const ReportArm& reference) {
  const statistics::Comparison& c = *arm.comparison;
  const double n = static_cast<double>(c.seeds.size()), m = static_cast<double>(c.reference_runs);
  const auto squared = [](std::optional<double> x) { return x.value_or(0) * x.value_or(0); };
  if (c.reference_runs == 0) return {squared(c.difference.standard_deviation) / n, n - 1};
  const double va = squared(arm.standard_deviation) / n, vb = squared(reference.standard_deviation) / m;
  const double parts = va * va / (n - 1) + vb * vb / (m - 1);
  return {va + vb, parts > 0 ? (va + vb) * (va + vb) / parts : 1};
}

} // namespace

std::vector<std::pair<std::string, std::string>> formulas_of_arms(const ReportData& report) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const ReportArm& arm : report.arms) {
    const std::set<std::string> tables = tables_of_formulas(arm);
    std::string text;
    for (const PlannedChange& change : arm.changes)
      if (std::ranges::any_of(tables, [&](const std::string& table) { return change.key.starts_with(table); }) &&
          !change.value.empty())
        text += fmt::format("{}{} = {}", text.empty() ? "" : "; ", change.key, change.value);
    if (text.empty()) continue;
    std::pair note(arm.short_label(), std::move(text));
    if (std::ranges::find(out, note) == out.end()) out.push_back(std::move(note));
  }
  return out;
}

std::string matching_in_words(const ReportArm& arm, const std::string& match) {
  const BudgetMatch& matched = *arm.matched;
  const auto counted = [](double amount) { return with_commas(std::llround(amount)); };
  const bool flops = match == "flops", state = match == "state";
  const std::string amount = flops ? scaled(matched.amount, "FLOPs")
                                   : fmt::format("{} {}", counted(matched.amount), matched_unit(match)),
                    target = flops ? scaled(matched.target, "FLOPs") : counted(matched.target);
  std::string text = fmt::format("{} of {}, {} against the reference's {} ({} %).",
                                 state ? "model.width" : "feed-forward",
                                 with_commas(matched.width) + (state ? "" : " features"), amount, target,
                                 signed_fixed(100 * matched.excess(), 2));
  if (std::abs(matched.excess()) > matched_enough)
    text += fmt::format(" Not even: no width{} comes nearer.", state ? "" : " of the feed-forward");
  return text;
}

void count_choices(ReportData& report) {
  for (ReportArm& arm : report.arms) {
    arm.p_choices.reset();
    arm.other_choices = arm.other_choices_of_reference = 0;
  }
  if (!report.tuning || !report.tuning->settled() || !report.metric.is_goal()) return;
  std::vector<std::optional<statistics::TuningChoice>> choices;
  for (std::size_t i = 0; i < report.arms.size(); ++i) choices.push_back(choice_of(report, i));
  for (std::size_t i = 0; i < report.arms.size(); ++i) {
    ReportArm& arm = report.arms[i];
    if (report.is_reference(arm) || !arm.comparison || !is_found(arm.comparison->answer) || arm.comparison->ranked ||
        arm.comparison->seeds.size() < 2 || !choices[i] || !choices[arm.reference])
      continue;
    const Error error = error_of(arm, report.arms[arm.reference]);
    arm.p_choices = statistics::p_with_choices(*arm.comparison, error.square, error.freedom,
                                               choices[i]->variance + choices[arm.reference]->variance);
    arm.other_choices = choices[i]->others;
    arm.other_choices_of_reference = choices[arm.reference]->others;
  }
}

std::vector<bool> outlying(const std::vector<double>& values) {
  constexpr double factor = 100;
  std::vector<bool> far(values.size(), false);
  std::vector<double> finite, distances;
  for (const double value : values)
    if (std::isfinite(value)) finite.push_back(value);
  for (std::size_t i = 0; i < far.size(); ++i) far[i] = !std::isfinite(values[i]);
  if (finite.size() < 3) return far;
  const double middle = statistics::median(finite);
  for (const double value : finite) distances.push_back(std::abs(value - middle));
  const double scale = std::max(statistics::median(distances), 0.02 * std::abs(middle));
  const auto outlies = [&](double value) { return !(std::abs(value - middle) <= factor * scale); };
  if (scale > 0 && 3 * std::ranges::count_if(values, outlies) <= std::ssize(values))
    for (std::size_t i = 0; i < far.size(); ++i) far[i] = outlies(values[i]);
  return far;
}

} // namespace heed
