#include "experiments/report/formula_notes.hpp"

#include <algorithm>
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

std::vector<std::string> formula_notes(const ReportData& report) {
  std::vector<std::string> out;
  for (const ReportArm& arm : report.arms) {
    const std::set<std::string> tables = tables_of_formulas(arm);
    std::string text;
    for (const PlannedChange& change : arm.changes)
      if (std::ranges::any_of(tables, [&](const std::string& table) { return change.key.starts_with(table); }) &&
          !change.value.empty())
        text += fmt::format("{}{} = {}", text.empty() ? "" : "; ", change.key, change.value);
    if (text.empty()) continue;
    std::string note = fmt::format("{}: {}", arm.name.empty() ? arm.label : arm.name, text);
    if (std::ranges::find(out, note) == out.end()) out.push_back(std::move(note));
  }
  return out;
}

} // namespace heed
