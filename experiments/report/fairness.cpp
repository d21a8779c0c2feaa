#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/sweep/tuning.hpp"

#include <cmath>
#include <fmt/format.h>

namespace heed {

namespace {

std::string matched_sentence(const ReportArm& arm, const std::string& match) {
  const BudgetMatch& matched = *arm.matched;
  const bool parameters = match == "parameters";
  const std::string amounts = parameters ? fmt::format("{} parameters against the reference's {}",
                                                       with_commas(std::llround(matched.amount)),
                                                       with_commas(std::llround(matched.target)))
                                         : fmt::format("{} against the reference's {}", scaled(matched.amount, "FLOPs"),
                                                       scaled(matched.target, "FLOPs"));
  std::string text = fmt::format("{}: feed-forward of {} features, {} ({} %).", arm.label, with_commas(matched.width),
                                 amounts, signed_fixed(100 * matched.excess(), 2));
  if (std::abs(matched.excess()) > matched_enough) text += " Not even: no width of the feed-forward comes nearer.";
  return text;
}

} // namespace

std::vector<std::string> matching_notes(const ReportData& report) {
  std::vector<std::string> notes;
  for (const ReportArm& arm : report.arms)
    if (arm.matched) notes.push_back(matched_sentence(arm, report.match));
  return notes;
}

std::vector<std::string> fairness_notes(const ReportData& report) {
  std::vector<std::string> notes = matching_notes(report);
  if (report.tuning)
    for (std::size_t a = 0; a < report.arms.size(); ++a)
      notes.push_back(fmt::format("{}: {}.", report.arms[a].label, tuning_in_words(*report.tuning, a)));
  return notes;
}

} // namespace heed
