#include "experiments/report/other_examples.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/system/polling.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace heed {

namespace {

using Rows = std::vector<std::vector<double>>;

/// The runs of these seeds, by seed, whose examples are known.
std::map<std::int64_t, const std::vector<double>*> known_examples(std::span<const ReportRun> runs,
                                                                  const std::vector<std::int64_t>* seeds) {
  std::map<std::int64_t, const std::vector<double>*> out;
  for (const ReportRun& run : runs)
    if (!run.examples.empty() && !run.is_left_out() && (!seeds || std::ranges::count(*seeds, run.seed) > 0))
      out[run.seed] = &run.examples;
  return out;
}

/// The runs with as many examples as the first of them.
Rows rows_of(const std::map<std::int64_t, const std::vector<double>*>& runs) {
  Rows out;
  for (const auto& [seed, examples] : runs)
    if (out.empty() || examples->size() == out.front().size()) out.push_back(*examples);
  return out;
}

/// @param arms  over which the interval is corrected (Bonferroni)
std::optional<statistics::OverExamples> over_examples_of(const ReportData& report, const ReportArm& arm,
                                                         std::size_t arms) {
  const ReportArm& reference = report.arms[arm.reference];
  if (&arm == &reference || !arm.comparison) return std::nullopt;
  const double confidence = 1 - arm.comparison->level / static_cast<double>(arms);
  const bool paired = arm.comparison->reference_runs == 0;
  const auto* seeds = paired ? &arm.comparison->seeds : nullptr;
  const auto of_arm = known_examples(report.counted_runs(arm), seeds),
             of_reference = known_examples(report.counted_runs(reference), seeds);
  if (!paired) {
    const Rows a = rows_of(of_arm), b = rows_of(of_reference);
    if (a.empty() || b.empty() || a.front().size() != b.front().size()) return std::nullopt;
    return statistics::over_examples_unpaired(a, b, confidence);
  }
  Rows a, b;
  for (const auto& [seed, examples] : of_arm) {
    const auto other = of_reference.find(seed);
    if (other == of_reference.end() || other->second->size() != examples->size() ||
        (!a.empty() && a.front().size() != examples->size()))
      continue;
    a.push_back(*examples);
    b.push_back(*other->second);
  }
  return statistics::over_examples(a, b, confidence);
}

/// The arms that are compared with a reference.
std::size_t compared_arms(const ReportData& report) {
  return static_cast<std::size_t>(std::ranges::count_if(report.arms, [](const ReportArm& arm) {
    return arm.comparison.has_value();
  }));
}

} // namespace

void find_over_examples(ReportData& report) {
  const std::size_t arms = compared_arms(report);
  for (ReportArm& arm : report.arms) {
    poll_caller();
    arm.over_examples = report.examples ? over_examples_of(report, arm, arms) : std::nullopt;
    if (!arm.over_examples || !report.metric.has_upper_bound()) continue;
    const double range = report.metric.high - report.metric.low;
    statistics::Interval& interval = arm.over_examples->interval;
    interval = {std::max(interval.low, -range), std::min(interval.high, range)};
  }
}

std::string over_examples_sentence(const ReportData& report, const ReportArm& arm, const TableDigits& digits) {
  if (!arm.over_examples) return "";
  const statistics::OverExamples& over = *arm.over_examples;
  const Decimals decimals = decimals_showing({over.mean, over.interval.low, over.interval.high},
                                             digits.of(arm).difference);
  const double share = std::round(100 * over.share_of_examples);
  return fmt::format(" Over other examples, too: {}{} [{}, {}]; of its squared error, {:.0f} % comes from examples and "
                     "{:.0f} % from seeds.",
                     signed_fixed(over.mean, decimals), unit_of(report.metric), fixed(over.interval.low, decimals),
                     fixed(over.interval.high, decimals), share, 100 - share);
}

std::string over_examples_note(const ReportData& report) {
  const auto stated = std::ranges::find_if(report.arms, [](const ReportArm& arm) { return !!arm.over_examples; });
  if (!report.examples || stated == report.arms.end()) return "";
  return fmt::format("intervals over other examples are Student's, over seeds and {} examples, with Satterthwaite's "
                     "degrees of freedom{}.",
                     with_commas(static_cast<std::int64_t>(stated->over_examples->examples)),
                     compared_arms(report) > 1 ? " and Bonferroni's correction for all arms" : "");
}

std::string unknown_examples_note(const ReportData& report) {
  if (!report.examples) return "";
  std::map<std::string, std::vector<std::string>> runs_by_problem;
  for (const ReportArm& arm : report.arms)
    for (const ReportRun& run : arm.runs)
      if (!run.examples_problem.empty()) runs_by_problem[run.examples_problem].push_back(run.id);
  std::string text;
  for (const auto& [problem, runs] : runs_by_problem) {
    const bool is_one = runs.size() == 1;
    text += fmt::format("{}{} {} in no interval over other examples: {}", text.empty() ? "" : "; ",
                        is_one ? "run " + runs.front() : counted(runs.size(), "run"), is_one ? "is" : "are", problem);
  }
  return text.empty() ? text : text + ".";
}

} // namespace heed
