#include "experiments/report/problem_groups.hpp"

#include "experiments/system/polling.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <utility>

namespace heed {
namespace {

/// The reason with each number replaced by "0".
std::string without_numbers(const std::string& reason) {
  std::string out;
  for (const char c : reason) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) out += c;
    else if (out.empty() || out.back() != '0') out += '0';
  }
  return out;
}

std::string failures_in_words(const ReportData& report, std::size_t failed) {
  std::size_t diverged = 0;
  for (const ReportArm& arm : report.arms)
    diverged += static_cast<std::size_t>(std::ranges::count_if(arm.runs, [](const ReportRun& run) {
      return run.state == RunState::failed && run.diverged();
    }));
  const std::string said = fmt::format("{} of {} runs failed, for the reasons above; the finished runs stay.", failed,
                                       report.total());
  if (diverged == 0) return said + " Try them again with";
  if (diverged >= failed) return said + " The same config diverges again: change it, then start";
  return fmt::format("{} {} of them diverged, and diverge again with the same config; try the others again with", said,
                     diverged);
}

} // namespace

std::string ProblemGroup::reason() const {
  const std::string& first = runs.front()->problem;
  const bool equal = std::ranges::all_of(runs, [&](const ReportRun* run) { return run->problem == first; });
  return equal ? first
               : fmt::format("{} (the first of {} runs; the reasons of the others differ in numbers only)", first,
                             runs.size());
}

std::string ProblemGroup::seeds() const {
  return fmt::format("seed{} {}", plural(runs.size()), joined(runs, ", ", &ReportRun::seed_text));
}

std::string ProblemGroup::ids(std::string (*shown)(const std::string&)) const {
  if (runs.front()->has_no_row()) return "no row";
  return fmt::format("run{} {}", plural(runs.size()),
                     joined(runs, ", ", [&](const ReportRun* run) { return shown(run->id); }));
}

std::string shortfall_in_words(const ReportData& report, std::size_t failed, std::size_t missing) {
  if (failed > 0) return failures_in_words(report, failed);
  if (const std::size_t n = std::max(missing, report.gone()); n > 0)
    return fmt::format("{} run{} finished and cannot be used any more: folders were removed or changed afterwards. "
                       "Repeat what is missing with",
                       n, plural(n));
  if (const std::size_t n = report.left_out(); n > 0)
    return fmt::format("{} of {} runs are unusable and excluded, for the reasons above. Remove their folders, and "
                       "repeat them with",
                       n, report.total());
  return {};
}

std::vector<ProblemGroup> problem_groups(const ReportData& report) {
  std::vector<ProblemGroup> out;
  for (const ReportArm& arm : report.arms) {
    poll_caller();
    std::map<std::pair<std::string_view, std::string>, std::size_t> places; // by state and reason without numbers
    for (const ReportRun& run : arm.runs) {
      if (run.problem.empty()) continue;
      const auto [place, is_new] = places.emplace(std::pair(run.status(), without_numbers(run.problem)), out.size());
      if (is_new) out.push_back({&arm, {}});
      out[place->second].runs.push_back(&run);
    }
  }
  return out;
}

} // namespace heed
