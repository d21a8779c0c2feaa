#include "experiments/report/answers.hpp"

#include "experiments/report/arm_notes.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/not_worse.hpp"
#include "experiments/report/other_examples.hpp"
#include "experiments/report/over_tasks.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/statistics/tuning_choice.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <boost/describe/enum_to_string.hpp>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <span>

namespace heed {

using statistics::Answer;
using statistics::Comparison;

std::string unit_of(const Metric& metric) { return metric.unit.empty() ? " in " + metric.shown() : " " + metric.unit; }

namespace {

/// " [-0.05, 0.09]"; " in each of 7 seeds" if all differences are equal: their spread is unknown.
std::string variation_text(const Comparison& c, Decimals decimals, bool turned = false) {
  std::string text = c.constant ? fmt::format(" in each of {} seeds", c.seeds.size()) : "";
  if (c.interval) text += " " + interval_text(c, decimals, false, turned);
  return text;
}

} // namespace

std::string signed_difference(const Comparison& c, const std::string& unit, Decimals decimals) {
  return signed_fixed(c.difference.mean, decimals) + unit + variation_text(c, decimals);
}

namespace {

/// What is missing in an arm, in words: "residual connections" for "residual"; other names as they are.
std::string_view part_in_words(std::string_view name) {
  if (name == "residual") return "residual connections";
  if (name == "position") return "positional encodings";
  if (name == "norm") return "normalisation layers";
  return name;
}

bool is_better(const Comparison& c, const Metric& metric) { return improves(c.difference.mean, metric.direction); }

/// "is worse: val_loss is 0.31 nats higher [0.28, 0.34]"; if no direction is better, "differs: ...".
std::string better_or_worse(const Comparison& c, const Metric& metric, Decimals decimals) {
  const double mean = c.difference.mean;
  const std::string_view is = !metric.is_goal() ? "differs" : is_better(c, metric) ? "is better" : "is worse";
  return fmt::format("{}: {} is {}{}{} {}{}", is, metric.shown(), fixed(std::abs(mean), decimals),
                     metric.unit.empty() ? "" : " ", metric.unit, mean > 0 ? "higher" : "lower",
                     variation_text(c, decimals, mean <= 0));
}

/// "6"; if runs are not paired, "6 and 7 (reference)".
std::string runs_text(const Comparison& c) {
  return c.reference_runs == 0 ? fmt::format("{}", c.seeds.size())
                               : fmt::format("{} and {} (reference)", c.seeds.size(), c.reference_runs);
}

} // namespace

std::string p_and_n(const Comparison& c, double p) {
  // No drawn flip except the observed data reaches the statistic. The p over all flips may be smaller.
  const bool at_most = !c.exact && p * static_cast<double>(c.flips) < 1.5;
  return fmt::format("p {}{}, n = {}", at_most ? "<= " + probability(p) : p_with_relation(p),
                     c.exact ? "" : " (approximate)", runs_text(c));
}

namespace {

std::string p_and_n(const Comparison& c) { return heed::p_and_n(c, c.p.value_or(1)); }

/// " (Student's interval, not corrected for other arms: [-0.05, 0.09])": for arms with too few pairs for flips.
std::string student_text(const Comparison& c, Decimals decimals) {
  const auto& interval = c.difference.interval;
  if (!interval) return "";
  return fmt::format(" (Student's interval, not corrected for other arms: [{}, {}])", fixed(interval->low, decimals),
                     fixed(interval->high, decimals));
}

bool runs_to_come(const ReportArm& arm) {
  return std::ranges::any_of(arm.runs, [](const ReportRun& run) {
    return !run.is_excluded() && run.state != RunState::finished;
  });
}

bool all_failed(const ReportArm& arm) {
  return !arm.runs.empty() && std::ranges::all_of(arm.runs, [](const ReportRun& run) {
    return !run.is_left_out() && run.state == RunState::failed;
  });
}

/// The run of a seed; null if there is none. Runs of a sweep are in the order of its seeds, so that those of an arm and
/// its reference are at the same `place`. Those of a table are sorted by seed, and an arm can lack some.
const ReportRun* run_of_seed(std::span<const ReportRun> runs, std::int64_t seed, std::size_t place) {
  if (place < runs.size() && runs[place].seed == seed) return &runs[place];
  const auto found = std::ranges::lower_bound(runs, seed, {}, &ReportRun::seed);
  return found == runs.end() || found->seed != seed ? nullptr : &*found;
}

/// " 2 of 8 seeds are excluded (...)." Excluding diverged runs makes an arm look better.
std::string lost_seeds(const ReportData& report, const ReportArm& arm) {
  const auto runs = compared_runs(arm, arm), reference = compared_runs(arm, report.arms[arm.reference]);
  if (arm.comparison && arm.comparison->reference_runs > 0) {
    const auto own = std::ranges::count_if(runs, &ReportRun::is_excluded),
               others = std::ranges::count_if(reference, &ReportRun::is_excluded);
    if (own + others == 0) return "";
    return fmt::format(" {} of its {} runs and {} of the reference's {} are excluded (they failed, cannot be used, or "
                       "have no result).",
                       own, runs.size(), others, reference.size());
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ReportRun* other = run_of_seed(reference, runs[i].seed, i);
    if (runs[i].is_excluded() || !other || other->is_excluded()) ++count;
  }
  return excluded_seeds(count, runs.size());
}

/// " None of its 6 runs failed; with 6 runs, a rate of failure up to 39 % can't be excluded (95 % bound)."
std::string rare_failures(const ReportArm& arm) {
  const auto runs = compared_runs(arm, arm);
  const auto n = static_cast<std::size_t>(std::ranges::count_if(runs,
                                                                [](const ReportRun& run) { return !!run.value; }));
  if (n == 0 || std::ranges::any_of(runs, &ReportRun::is_excluded)) return "";
  return fmt::format(" None of its {0} runs failed; with {0} runs, a rate of failure up to {1:.0f} % can't be excluded "
                     "(95 % bound).",
                     n, 100 * statistics::largest_share_of_none(n));
}

/// " If failed runs count as the worst of all, p = 0.31 (...): the answer does not hold."
std::string failed_as_worst(const ReportData& report, const ReportArm& arm) {
  if (!arm.p_failed_worst || !arm.comparison || arm.comparison->answer == Answer::underpowered) return "";
  const Comparison& c = *arm.comparison;
  if (c.noninferiority) return not_worse_with_failed(arm);
  const bool found = *arm.p_failed_worst <= c.level;
  std::string_view then = found && arm.better_failed_worst ? "then the arm is better"
                          : found                          ? "then the arm is worse"
                                                           : "then no difference is shown";
  if (c.answer == Answer::differs)
    then = found && arm.better_failed_worst == is_better(c, report.metric) ? "the answer holds"
           : found                                                         ? "the answer is reversed"
                   : "the answer does not hold, and no difference is shown";
  if (c.answer == Answer::same)
    then = found && arm.better_failed_worst ? "the answer does not hold; then the arm is better"
           : found                          ? "the answer does not hold; then the arm is worse"
                                            : "then no difference is found, but whether they are the same is unknown";
  return fmt::format(" If failed runs count as the worst of all, p {} (ranks, not corrected for other arms): {}.",
                     p_with_relation(*arm.p_failed_worst), then);
}

/// "norm = post: 4 of 6 seeds learned (67 %, 95 % interval [22, 96]; val_accuracy >= 0.57, a threshold from the gap in
/// these runs), and 6 of 6 of the reference, p = 0.45 (Fisher). " Empty if all seeds learned.
std::string learned_sentence(const ReportData& report, const ReportArm& arm) {
  if (!arm.learned) return "";
  const LearnedSeeds& learned = *arm.learned;
  if (learned.arm.seeds == learned.arm.of && learned.reference.seeds == learned.reference.of) return "";
  const statistics::Estimate share = statistics::share_of(static_cast<double>(learned.arm.seeds), learned.arm.of);
  return fmt::format(
      "{}: {} of {} seeds learned ({:.0f} %, 95 % interval [{:.0f}, {:.0f}]; {} {} {}{}), and {} of {} of the "
      "reference, p {} (Fisher{}). ",
      subject(report, arm), learned.arm.seeds, learned.arm.of, 100 * share.value, 100 * share.interval->low,
      100 * share.interval->high, report.metric.shown(), report.metric.higher_is_better() ? ">=" : "<=",
      learned.found ? fmt::format("{:.3g}", learned.threshold) : fmt::format("{:g}", learned.threshold),
      learned.is_least ? ", better than guessing"
      : learned.found  ? ", a threshold from the gap in these runs"
                       : "",
      learned.reference.seeds, learned.reference.of, p_with_relation(learned.p),
      learned.arms > 1 ? fmt::format(", corrected for {} arms", learned.arms) : "");
}

/// " 2 of its 6 runs and 1 of the reference's did not reach the target and were counted as 310 steps. ..."
std::string never_there(const ReportData& report, const ReportArm& arm) {
  if (!arm.comparison) return "";
  const auto late = [&](const ReportArm& of) {
    return std::ranges::count_if(compared_runs(arm, of), [&](const ReportRun& run) {
      return run.value && is_censored(report.metric, *run.value);
    });
  };
  const auto own = late(arm), others = late(report.arms[arm.reference]);
  if (own == 0 && others == 0) return "";
  const auto there = std::ranges::count_if(compared_runs(arm, arm), [](const ReportRun& run) { return !!run.value; });
  std::string who = own > 0 ? fmt::format("{} of its {} runs", own, there) : "";
  if (others > 0) who += fmt::format("{}{} of the reference's", own > 0 ? " and " : "", others);
  const Comparison& c = *arm.comparison;
  return fmt::format(" {} did not reach the target and {} counted as {:g} steps.{}{}", who,
                     own + others == 1 ? "was" : "were", report.metric.high,
                     c.ranked ? fmt::format(" p is by ranks. The mean {} on this number.",
                                            c.interval ? "and its interval depend" : "depends")
                              : "",
                     !report.margin            ? ""
                     : report.asks_not_worse() ? " With such runs, only whether the arm is better is tested."
                                               : " With such runs, an arm is never called the same.");
}

/// " With the spread at its upper 80 % bound, a true difference of 0.42 nats would be found in 80 of 100 such sweeps."
std::string smallest_found(const ReportData& report, const ReportArm& arm, const ArmLimits& limits) {
  if (!arm.smallest_found || limits.own == Limit::worse_than_chance) return "";
  const Decimals decimals = decimals_showing({*arm.smallest_found}, decimals_for({*arm.smallest_found}));
  return fmt::format(" With the spread at its upper 80 % bound, a true difference of {}{} would be found in {:.0f} of "
                     "100 such sweeps.",
                     fixed(*arm.smallest_found, decimals), unit_of(report.metric), 100 * found_share);
}

/// " Found at the look of 6 seeds (p 0.031 <= 0.035)." Only with planned looks.
std::string found_at(const ReportArm& arm) {
  if (arm.look == 0 || !arm.comparison) return "";
  const Comparison& c = *arm.comparison;
  const std::optional<double> p = statistics::answered_p(c);
  if (!is_found(c.answer) || !p) return "";
  return fmt::format(" Found at the look of {} seeds (p {} <= {}).", arm.look, probability(*p), level_text(c.level));
}

/// " Over all seeds: +0.163 [0.140, 0.186] (98.5 % interval), p = 0.0005, n = 12; the mean is beyond the margin, so the
/// answer does not hold for them." Only if the answer was found at an earlier look.
std::string at_last_look(const ReportData& report, const ReportArm& arm) {
  if (!arm.later || !arm.comparison || !is_found(arm.comparison->answer)) return "";
  const Comparison &found = *arm.comparison, &c = *arm.later;
  const Decimals decimals = decimals_showing(c, own_decimals(c));
  std::string_view then = contradicted_later(found, c);
  if (found.answer == Answer::same && report.margin && std::abs(c.difference.mean) > *report.margin)
    then = "; this mean is beyond the margin, so the answer does not hold for them";
  else if (found.answer == Answer::differs && c.difference.mean * found.difference.mean < 0)
    then = "; this mean is on the other side of 0, so the answer does not hold for them";
  const bool complete = report.seeds_looked_at() == report.seeds.size();
  return fmt::format(" Over {} seeds: {} ({:.3g} % interval), {}{}.",
                     complete ? "all" : fmt::format("the first {}", report.seeds_looked_at()),
                     signed_difference(c, unit_of(report.metric), decimals), 100 * (1 - c.level), p_and_n(c), then);
}

/// " If the tuning is repeated with simulated noise, another setting is chosen in 31 % of draws (the reference's: 5 %).
/// With this as further noise, p = 0.11: the answer does not hold."
std::string with_choices(const ReportArm& arm) {
  if (!arm.p_choices || !arm.comparison) return "";
  if (arm.other_choices == 0 && arm.other_choices_of_reference == 0)
    return " If the tuning is repeated with simulated noise, it always chooses the same settings.";
  return fmt::format(
      " If the tuning is repeated with simulated noise, another setting is chosen in {:.0f} % of draws (the "
      "reference's: {:.0f} %). With this as further noise, p {}: the answer {}.",
      100 * arm.other_choices, 100 * arm.other_choices_of_reference, p_with_relation(*arm.p_choices),
      *arm.p_choices <= arm.comparison->level ? "holds" : "does not hold");
}

} // namespace

std::string contradiction(const Metric& metric, const Comparison& c) {
  const std::array<std::string_view, 2> sides = side_words(metric.direction);
  const double mean = c.difference.mean;
  return fmt::format("by ranks it is {}, {}", sides[c.rank_difference > 0],
                     mean == 0 ? "and the means are equal" : fmt::format("by the mean {}", sides[mean > 0]));
}

namespace {

/// The sentence about the comparison, without remarks on missing runs.
std::string compared_sentence(const ReportData& report, const ReportArm& arm, const TableDigits& digits,
                              const ArmLimits& limits) {
  const std::string who = subject(report, arm), unit = unit_of(report.metric);
  if (!arm.comparison && all_failed(arm))
    return fmt::format("{} can't be compared: all of its runs failed, the first with \"{}\".", who,
                       arm.runs.front().problem);
  const ReportArm& reference = report.arms[arm.reference];
  if (!arm.comparison && all_failed(reference))
    return fmt::format("{} can't be compared: all runs of its reference failed, the first with \"{}\".", who,
                       reference.runs.front().problem);
  if (report.before_first_look())
    return fmt::format("{} has no answer before the first look, at {} seeds.", who, report.looks.front());
  if (!sees_alike(report, arm))
    return fmt::format("{} can't be compared with the reference: {} sees what it is to predict.", who,
                       arm.leakage.empty() ? "that" : "it");
  if (!arm.comparison)
    return who + (runs_to_come(arm) || runs_to_come(reference)
                      ? " can't be compared yet: no seed has finished both here and in the reference."
                      : " can't be compared: no seed has a result both here and in the reference.");
  const Comparison& c = *arm.comparison;
  const Decimals decimals = decimals_showing(c, digits.of(arm).difference); // those of its row in the table
  if (equal_in_all_seeds(c))
    return fmt::format("{} is equal to the reference{} both have the same {} in {}.", who,
                       c.rounded ? " but for rounding:" : ", bit for bit:", report.metric.shown(),
                       c.seeds.size() == 1 ? "the one seed" : fmt::format("each of {} seeds", c.seeds.size()));
  if (c.noninferiority && c.answer != Answer::underpowered)
    return not_worse_sentence(report, arm, who, decimals) + (c.answer == Answer::not_worse ? rare_failures(arm) : "");
  switch (c.answer) {
    case Answer::better:
    case Answer::not_worse:
    case Answer::worse: break; // above
    case Answer::differs:
      if (limits.shared != Limit::none && limits.shared != Limit::best)
        return fmt::format(
            "{} differs from the reference by {}, {}; it is neither better nor worse, since neither has learned.", who,
            signed_difference(c, unit, decimals), p_and_n(c));
      return fmt::format("{} {}, {}.", who, better_or_worse(c, report.metric, decimals), p_and_n(c));
    case Answer::same:
      return fmt::format(
          "{} is the same as the reference: the difference, {}, is within the margin of {} (equivalence test: p {}, n "
          "= {}).{}{}",
          who, signed_difference(c, unit, decimals), margin_text(report),
          p_with_relation(c.p_equivalence_flips.value_or(1)), runs_text(c),
          c.p.value_or(1) <= c.level
              ? fmt::format(" A difference is found (p {}), but it is smaller than the margin.", p_with_relation(*c.p))
              : "",
          rare_failures(arm));
    case Answer::undecided:
      return fmt::format("{} is undecided ({}): {}, {}.{}", who,
                         c.contradicts ? contradiction(report.metric, c)
                         : c.margin    ? fmt::format("neither different from the reference nor the same within {}",
                                                     margin_text(report))
                                       : "no difference from the reference is shown",
                         signed_difference(c, unit, decimals), p_and_n(c), smallest_found(report, arm, limits));
    case Answer::underpowered:
      return fmt::format("{} is {}. So far {}{}.", who, underpowered_words(runs_text(c), c.smallest_p, c.seeds_needed),
                         signed_difference(c, unit, decimals), student_text(c, decimals));
  }
  return "";
}

} // namespace

std::string subject(const ReportData& report, const ReportArm& arm) {
  constexpr std::string_view removed = "without ";
  const std::string group = report.group_label(arm);
  std::string what = arm.short_label();
  if (what.starts_with(removed))
    what = fmt::format("{} model without {}", group.empty() ? "The" : "the",
                       part_in_words(std::string_view(what).substr(removed.size())));
  return group.empty() ? what : fmt::format("At {}, {}", group, what);
}

std::string margin_text(const ReportData& report) {
  return fmt::format("{:g}{}", *report.margin, unit_of(report.metric));
}

std::string excluded_seeds(std::size_t count, std::size_t of) {
  if (count == 0) return "";
  return fmt::format(" {} of {} seeds {} excluded (runs that failed, cannot be used, or have no result).", count, of,
                     count == 1 ? "is" : "are");
}

std::string level_text(double level) { return fmt::format("{:.3g}", level); }

std::string confidence_text(const ReportData& report) {
  std::optional<double> level;
  for (const ReportArm& arm : report.arms) {
    if (!arm.comparison) continue;
    if (level && *level != arm.comparison->level) return "each look's %";
    level = arm.comparison->level;
  }
  return fmt::format("{}{:.3g} %", report.asks_not_worse() ? "one-sided " : "",
                     100 * (1 - level.value_or(statistics::significance_level)));
}

bool has_intervals(const ReportData& report) {
  return std::ranges::any_of(report.arms,
                             [](const ReportArm& arm) { return arm.comparison && arm.comparison->interval; });
}

std::string missing_answer(const ReportArm& arm) { return !arm.comparison && all_failed(arm) ? "all runs failed" : ""; }

std::string earlier_look_text(const ReportData& report, const ReportArm& arm) {
  return arm.look == 0 || arm.look == report.seeds_looked_at() ? "" : fmt::format(" (n = {})", arm.look);
}

std::string underpowered_words(std::string_view n, double smallest_p, std::size_t seeds_needed) {
  return fmt::format("underpowered: with n = {}, p cannot be below {:.3g}; at least {} seeds are needed", n, smallest_p,
                     seeds_needed);
}

AnswerSentence answer_parts(const ReportData& report, const ReportArm& arm, const TableDigits& digits) {
  poll_caller();
  if (report.is_reference(arm)) return {};
  if (report.is_overall) return {"", sentence_over_tasks(report, arm, digits), ""};
  const bool failed = all_failed(arm) || all_failed(report.arms[arm.reference]);
  const ArmLimits limits = arm_limits(report, arm);
  return {limit_remark(limits) + learned_sentence(report, arm), compared_sentence(report, arm, digits, limits),
          over_examples_sentence(report, arm, digits) + found_at(arm) + at_last_look(report, arm) + with_choices(arm) +
              (failed ? "" : never_there(report, arm) + lost_seeds(report, arm) + failed_as_worst(report, arm))};
}

std::string answer_sentence(const ReportData& report, const ReportArm& arm, const TableDigits& digits) {
  const AnswerSentence parts = answer_parts(report, arm, digits);
  return parts.before + parts.answer + parts.after;
}

std::vector<std::string> answer_sentences(const ReportData& report) {
  std::vector<std::string> sentences = limit_sentences(report);
  std::ranges::copy(sentences_over_tasks(report), std::back_inserter(sentences));
  const TableDigits digits(report);
  for (const ReportArm& arm : report.arms)
    if (!report.is_reference(arm)) sentences.push_back(answer_sentence(report, arm, digits));
  std::ranges::copy(interaction_sentences(report), std::back_inserter(sentences));
  return sentences;
}

std::string_view name_of(AnswerWord word) {
  return word == AnswerWord::not_worse ? "not worse" : boost::describe::enum_to_string(word, "none");
}

AnswerWord answer_word(const std::optional<statistics::Comparison>& comparison, const Metric& metric) {
  if (!comparison) return AnswerWord::none;
  if (equal_in_all_seeds(*comparison)) return AnswerWord::equal;
  switch (comparison->answer) {
    case statistics::Answer::same: return AnswerWord::same;
    case statistics::Answer::better: return AnswerWord::better;
    case statistics::Answer::not_worse: return AnswerWord::not_worse;
    case statistics::Answer::worse: return AnswerWord::worse;
    case statistics::Answer::undecided: return AnswerWord::undecided;
    case statistics::Answer::underpowered: return AnswerWord::underpowered;
    case statistics::Answer::differs: break;
  }
  if (!metric.is_goal()) return AnswerWord::differs;
  return improves(comparison->difference.mean, metric.direction) ? AnswerWord::better : AnswerWord::worse;
}

bool is_difference(AnswerWord word) {
  return word == AnswerWord::better || word == AnswerWord::worse || word == AnswerWord::differs;
}

std::array<std::string_view, 2> side_words(Direction direction) {
  if (direction == Direction::none) return {"lower", "higher"};
  return improves(1, direction) ? std::array<std::string_view, 2>{"worse", "better"}
                                : std::array<std::string_view, 2>{"better", "worse"};
}

Verdict verdict_of(const statistics::Comparison& c, const Metric& metric, int decimals) {
  Verdict out{answer_word(c, metric), {}, {}, {}};
  const double mean = c.difference.mean;
  if (mean != 0) out.side = side_words(metric.direction)[mean > 0];
  if (out.answer == AnswerWord::equal) {
    out.difference = equal_words(c);
    return out;
  }
  const Decimals shown = decimals_showing(c, decimals);
  out.difference = signed_fixed(mean, shown);
  out.interval = interval_text(c, shown, true);
  return out;
}

} // namespace heed
