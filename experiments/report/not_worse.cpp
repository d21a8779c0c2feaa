#include "experiments/report/not_worse.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/arm_notes.hpp"
#include "experiments/statistics/tuning_choice.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed {

namespace {

using statistics::Answer;
using statistics::Comparison;
using statistics::Noninferiority;

std::string with_unit(const Metric& metric, const std::string& number) {
  return metric.unit.empty() ? number : number + " " + metric.unit;
}

/// "0.02 nats": without the metric's name, which stands nearby.
std::string short_margin(const ReportData& report) {
  return with_unit(report.metric, fmt::format("{:g}", *report.margin));
}

/// The word for a change in the better direction, or in the other.
const char* side_of(const Metric& metric, bool better) {
  return better == metric.higher_is_better() ? "higher" : "lower";
}

/// "0.004 higher"; "the same on average" for 0.
std::string mean_text(const Metric& metric, const Noninferiority& of, Decimals decimals) {
  if (of.difference == 0) return "the same on average";
  return fmt::format("{} {}", with_unit(metric, fixed(std::abs(of.difference), decimals)),
                     side_of(metric, of.difference > 0));
}

/// "at most 0.009 lower"; "less than 0.02 lower" if the bound was moved to the margin.
std::string bound_text(const Metric& metric, const Comparison& c, Decimals decimals) {
  const Noninferiority& of = *c.noninferiority;
  const double bound = *of.bound;
  const std::string size = fixed(std::abs(bound), decimals);
  if (c.answer == Answer::better)
    return fmt::format("{} {} {}", is_zero(size) ? "more than" : "at least", with_unit(metric, size),
                       side_of(metric, true));
  if (c.answer == Answer::not_worse && bound == -of.margin)
    return fmt::format("less than {} {}", with_unit(metric, fmt::format("{:g}", of.margin)), side_of(metric, false));
  return fmt::format("at most {} {}", with_unit(metric, size), side_of(metric, false));
}

std::string bound_name(const ReportData& report, const Comparison& c) {
  const auto arms = std::ranges::count_if(report.arms, [](const ReportArm& arm) { return arm.comparison.has_value(); });
  return fmt::format("one-sided {:.3g} % bound{}", 100 * (1 - c.level), arms > 1 ? " for all arms together" : "");
}

/// "accuracy is 0.004 higher, and at most 0.009 lower (one-sided 95 % bound for all arms together)".
std::string difference_text(const ReportData& report, const Comparison& c, Decimals decimals) {
  const Metric& metric = report.metric;
  std::string text = fmt::format("{} is {}", metric.shown(), mean_text(metric, *c.noninferiority, decimals));
  if (c.constant) text += fmt::format(" in each of {} seeds", c.seeds.size());
  if (c.noninferiority->bound)
    text += fmt::format(", and {} ({})", bound_text(metric, c, decimals), bound_name(report, c));
  return text;
}

/// "it may or may not be worse by more than 0.02".
std::string open_text(const ReportData& report, const Comparison& c, std::string_view who = "it") {
  if (c.contradicts) return contradiction(report.metric, c);
  if (c.noninferiority->only_better) return "not shown to be better";
  return fmt::format("{} may or may not be worse by more than {}", who, short_margin(report));
}

bool any_comparison(const ReportData& report, bool (*holds)(const Comparison&)) {
  return std::ranges::any_of(report.arms,
                             [&](const ReportArm& arm) { return arm.comparison && holds(*arm.comparison); });
}

bool is_unpaired(const ReportData& report) { return report.test == statistics::Test::unpaired; }

} // namespace

std::string not_worse_sentence(const ReportData& report, const ReportArm& arm, const std::string& who,
                               Decimals decimals) {
  const Comparison& c = *arm.comparison;
  const std::string is = c.answer == Answer::better      ? "better"
                         : c.answer == Answer::not_worse ? "not worse by more than " + short_margin(report)
                         : c.answer == Answer::worse     ? "worse by more than " + short_margin(report)
                                                         : "undecided (" + open_text(report, c) + ")";
  return fmt::format("{} is {}: {}, {}.", who, is, difference_text(report, c, decimals),
                     p_and_n(c, statistics::answered_p(c).value_or(1)));
}

std::string not_worse_with_failed(const ReportArm& arm) {
  const Comparison& c = *arm.comparison;
  const bool found = *arm.p_failed_worst <= c.level,
             moved = c.answer != Answer::better && !c.noninferiority->only_better;
  const std::string_view then = is_found(c.answer) ? (found ? "the answer holds" : "the answer does not hold")
                                : found            ? (moved ? "then the arm is not worse by more than the margin"
                                                            : "then the arm is better")
                                                   : "then it is undecided, too";
  return fmt::format(
      " If failed runs count as the worst of all, p {} (one-sided, ranks{}, not corrected for other arms): "
      "{}.",
      p_with_relation(*arm.p_failed_worst), moved ? " of values moved by the margin" : "", then);
}

std::string_view contradicted_later(const Comparison& found, const Comparison& later) {
  if (!found.noninferiority || !later.noninferiority) return "";
  const double mean = later.noninferiority->difference, margin = found.noninferiority->margin;
  if (found.answer == Answer::better && mean <= 0)
    return "; this mean is on the other side of 0, so the answer does not hold for them";
  if (found.answer == Answer::not_worse && mean < -margin)
    return "; this mean is beyond the margin, so the answer does not hold for them";
  if (found.answer == Answer::worse && mean > -margin)
    return "; this mean is within the margin, so the answer does not hold for them";
  return "";
}

std::string shared_not_worse_sentence(const ReportData& report, const std::string& names,
                                      const std::vector<const ReportArm*>& arms, const TableDigits& digits) {
  const auto least = [](const ReportArm* arm) { return arm->comparison->noninferiority->bound.value_or(INFINITY); };
  const ReportArm& lowest = **std::ranges::min_element(arms, {}, least);
  const Comparison& c = *lowest.comparison;
  const std::string bound = !c.noninferiority->bound
                                ? ""
                                : fmt::format(" (the largest bound: {} is {}, p {})", report.metric.shown(),
                                              bound_text(report.metric, c,
                                                         decimals_showing(c, digits.of(lowest).difference)),
                                              p_with_relation(c.p.value_or(1)));
  if (c.answer == Answer::not_worse)
    return fmt::format("{} are not worse than the reference by more than {}{}.", names, short_margin(report), bound);
  return fmt::format("{} are undecided: {}{}.", names, open_text(report, c, "they"), bound);
}

std::string not_worse_difference_note(const ReportData& report, const std::string& level) {
  const char* whose = report.within.empty() ? "the reference" : "the reference of its group";
  const bool unpaired = is_unpaired(report);
  const std::string what = unpaired ? fmt::format("mean of the arm's runs minus mean of the runs of {}", whose)
                                    : fmt::format("arm minus {}, paired by {}", whose, report.paired_by());
  if (report.seeds.size() < 2) return fmt::format("from {}; one seed says nothing about the spread.", whose);
  if (!has_intervals(report)) return what + "; there are no bounds.";
  return fmt::format("{}. [{}]: one-sided bounds that hold for all arms together, from the same {} as p{}. A bound is "
                     "within the margin "
                     "of {} exactly when p is at most {}, and beyond 0 exactly when the arm is better. p can find what "
                     "the joint bound "
                     "does not yet show; then the margin is printed with a round bracket.{}{}",
                     what, confidence_text(report), unpaired ? "tests" : "sign flips", unpaired ? " (Bonferroni)" : "",
                     short_margin(report), level, unpaired ? "" : " With fewer than 5 seeds there is none.",
                     any_comparison(report, [](const Comparison& c) { return c.constant; })
                         ? " An arm whose differences are all equal has none: their spread is unknown."
                         : "");
}

std::string not_worse_p_note(const ReportData& report, const std::string& flips) {
  const std::string margin = short_margin(report),
                    ranks = any_comparison(report,
                                           [](const Comparison&c) {
                                             return c.noninferiority && c.noninferiority->only_better;
                                           })
                                ? " If runs did not reach the target, p is by ranks and of being better."
                                : "";
  const std::string further = fmt::format(
      " The sentence of an arm that is better, or worse by more than {}, has the p of that; worse is corrected for the "
      "arms in a family of its own.{}",
      margin, ranks);
  if (is_unpaired(report))
    return fmt::format(
        "that the arm is not worse by more than {}: of one-sided tests of the runs, moved by the margin. "
        "The larger of two: of Welch's t test, and of permutations. Corrected for the number of arms "
        "(Holm).{}",
        margin, further);
  return fmt::format(
      "that the arm is not worse by more than {}: the share of {}sign flips of difference + margin that give "
      "a result at least as clear (one-sided). A flip changes a seed's sign in all arms together. By the "
      "step-down max-t method, corrected for the number of arms.{}",
      margin, flips, further);
}

std::string not_worse_answer_note(const ReportData& report, const std::string& level) {
  return fmt::format("{}better if the bound is beyond 0; otherwise not worse (by more than {}) if p is at most {}; "
                     "otherwise worse (by "
                     "more than {}) if a one-sided test of this, with the same level, finds it; otherwise undecided, "
                     "which is no evidence "
                     "of either.",
                     any_comparison(report, equal_in_all_seeds)
                         ? "equal if the metric is the same number in all seeds; otherwise "
                         : "",
                     short_margin(report), level, short_margin(report));
}

std::string not_worse_answer_claim(const ReportData& report, const std::string& level) {
  return fmt::format("better if the bound is beyond 0; not worse by more than {} if p is at most {}; undecided shows "
                     "neither.",
                     short_margin(report), level);
}

} // namespace heed
