#include "experiments/report/arm_notes.hpp"

#include "experiments/report/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
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
    std::pair note(arm.name.empty() ? arm.label : arm.name, std::move(text));
    if (std::ranges::find(out, note) == out.end()) out.push_back(std::move(note));
  }
  return out;
}

std::string matching_in_words(const ReportArm& arm, const std::string& match) {
  const BudgetMatch& matched = *arm.matched;
  const bool parameters = match == "parameters";
  const std::string amounts = parameters ? fmt::format("{} parameters against the reference's {}",
                                                       with_commas(std::llround(matched.amount)),
                                                       with_commas(std::llround(matched.target)))
                                         : fmt::format("{} against the reference's {}", scaled(matched.amount, "FLOPs"),
                                                       scaled(matched.target, "FLOPs"));
  std::string text = fmt::format("feed-forward of {} features, {} ({} %).", with_commas(matched.width), amounts,
                                 signed_fixed(100 * matched.excess(), 2));
  if (std::abs(matched.excess()) > matched_enough) text += " Not even: no width of the feed-forward comes nearer.";
  return text;
}

} // namespace heed
