#include "experiments/report/answers.hpp"

#include "experiments/report/equal.hpp"
#include "experiments/report/numbers.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace heed {

namespace {

using statistics::Answer;
using statistics::Comparison;

/// "Removing the residual"; "At length = 64, score = additive".
std::string subject(const ReportData& report, const ReportArm& arm) {
  constexpr std::string_view removed = "without ";
  const std::string group = report.group_label(arm);
  const std::string& name = arm.name.empty() ? arm.label : arm.name;
  const std::string what = !name.starts_with(removed)
                               ? name
                               : (group.empty() ? "Removing " : "removing ") + name.substr(removed.size());
  return group.empty() ? what : fmt::format("At {}, {}", group, what);
}

/// " nats"; " in val_accuracy" where the metric has no unit.
std::string unit_of(const MetricInfo& metric) { return metric.unit.empty() ? " in " + metric.name : " " + metric.unit; }

/// Two significant digits of how well the mean is known.
Decimals decimals_of(const statistics::PairedDifference& d) {
  if (!d.interval) return decimals_showing({d.mean}, decimals_for({}));
  return decimals_showing({d.mean, d.interval->low, d.interval->high},
                          decimals_for({(d.interval->high - d.interval->low) / 2}));
}

std::string interval_text(double a, double b, Decimals decimals) {
  return fmt::format(" [{}, {}]", fixed(std::min(a, b), decimals), fixed(std::max(a, b), decimals));
}

/// "+0.02 nats [-0.05, 0.09]": the arm minus the reference.
std::string signed_difference(const Comparison& c, const std::string& unit) {
  const Decimals decimals = decimals_of(c.difference);
  std::string text = signed_fixed(c.difference.mean, decimals) + unit;
  if (const auto& interval = c.difference.interval) text += interval_text(interval->low, interval->high, decimals);
  return text;
}

/// " costs 0.31 nats [0.28, 0.34]".
std::string cost_or_gain(const Comparison& c, const MetricInfo& metric) {
  const statistics::PairedDifference& d = c.difference;
  const bool gain = (d.mean > 0) == metric.higher_is_better;
  const double turn = d.mean > 0 ? 1 : -1;
  const Decimals decimals = decimals_of(d);
  std::string text = fmt::format(" {} {}{}", gain ? "gains" : "costs", fixed(turn * d.mean, decimals), unit_of(metric));
  if (d.interval) text += interval_text(turn * d.interval->low, turn * d.interval->high, decimals);
  return text;
}

std::string p_and_n(const Comparison& c) {
  return fmt::format("p {}{}, n = {}", p_with_relation(c.p.value_or(1)), c.exact ? "" : " (approximate)",
                     c.seeds.size());
}

bool all_failed(const ReportArm& arm) {
  return !arm.runs.empty() && std::ranges::all_of(arm.runs, [](const ReportRun& run) {
    return !run.left_out && run.state == RunState::failed;
  });
}

/// " 2 of 8 seeds are in no number here: a run failed, or is left out." Arms that diverge look better without them.
std::string lost_seeds(const ReportData& report, const ReportArm& arm) {
  const auto lost = [](const ReportRun& run) { return run.left_out || run.state == RunState::failed; };
  const std::vector<ReportRun>& reference = report.arms[arm.reference].runs;
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(arm.runs.size(), reference.size()); ++i)
    if (lost(arm.runs[i]) || lost(reference[i])) ++count;
  if (count == 0) return "";
  return fmt::format(" {} of {} seeds {} in no number here: a run failed, or is left out.", count, reference.size(),
                     count == 1 ? "is" : "are");
}

std::string margin_text(const ReportData& report) {
  return fmt::format("{:g}{}", *report.margin, unit_of(report.metric));
}

/// What the numbers say, without what is missing from them.
std::string compared_sentence(const ReportData& report, const ReportArm& arm) {
  const std::string who = subject(report, arm), unit = unit_of(report.metric);
  if (!arm.comparison && all_failed(arm))
    return fmt::format("{} can't be compared: all of its runs failed, the first with \"{}\".", who,
                       arm.runs.front().problem);
  if (!arm.comparison) return who + " can't be compared yet: no seed has finished both here and in the reference.";
  const Comparison& c = *arm.comparison;
  if (equal_in_all_seeds(c))
    return fmt::format("{} is equal to the reference, bit for bit: {} is the same number in {}.", who,
                       report.metric.name,
                       c.seeds.size() == 1 ? "the one seed" : fmt::format("all {} seeds", c.seeds.size()));
  switch (c.answer) {
    case Answer::differs: return fmt::format("{}{}, {}.", who, cost_or_gain(c, report.metric), p_and_n(c));
    case Answer::same:
      return fmt::format("{} is the same as the reference within {}: {}, p {} (equivalence), n = {}{}.", who,
                         margin_text(report), signed_difference(c, unit),
                         p_with_relation(c.p_equivalence_holm.value_or(1)), c.seeds.size(),
                         c.p.value_or(1) <= statistics::significance_level
                             ? fmt::format("; the difference, within that, is found (p {})", p_with_relation(*c.p))
                             : "");
    case Answer::undecided:
      return fmt::format("{} can't be told from the reference{}: {}, {}.", who,
                         report.margin ? fmt::format(", nor called the same within {}", margin_text(report)) : "",
                         signed_difference(c, unit), p_and_n(c));
    case Answer::underpowered:
      return fmt::format("{} is {}. So far {}.", who, underpowered_words(c.seeds.size()), signed_difference(c, unit));
  }
  return "";
}

} // namespace

std::string underpowered_words(std::size_t seeds) {
  return fmt::format("underpowered: n = {} can't go below p = {:g}; {} seeds can", seeds, statistics::smallest_p(seeds),
                     statistics::seeds_for_level(statistics::significance_level));
}

std::string answer_sentence(const ReportData& report, const ReportArm& arm) {
  if (report.is_reference(arm)) return "";
  return compared_sentence(report, arm) + (all_failed(arm) ? "" : lost_seeds(report, arm));
}

std::vector<std::string> answer_sentences(const ReportData& report) {
  std::vector<std::string> sentences;
  for (const ReportArm& arm : report.arms)
    if (!report.is_reference(arm)) sentences.push_back(answer_sentence(report, arm));
  return sentences;
}

} // namespace heed
