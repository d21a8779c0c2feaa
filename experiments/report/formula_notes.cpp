#include "experiments/report/formula_notes.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {

std::vector<std::string> formula_notes(const ReportData& report) {
  std::vector<std::string> out;
  for (const ReportArm& arm : report.arms) {
    std::string text;
    for (const PlannedChange& change : arm.changes)
      if ((change.key.ends_with(".score_mod") || change.key.ends_with(".mask_mod")) && !change.value.empty() &&
          arm.label.find(change.value) == std::string::npos)
        text += fmt::format("{}{} = {}", text.empty() ? "" : "; ", change.key, change.value);
    if (text.empty()) continue;
    std::string note = fmt::format("{}: {}", arm.name.empty() ? arm.label : arm.name, text);
    if (std::ranges::find(out, note) == out.end()) out.push_back(std::move(note));
  }
  return out;
}

} // namespace heed
