// The answers of a sweep: on each arm as one word, the same in all formats, with the texts beside it, and in words, one
// sentence for each arm.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/statistics/comparison.hpp"

#include <array>
#include <boost/describe/enum.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The sentence about an arm, by its comparison's answer:
///     The model without residual connections is worse: val_loss is 0.31 nats higher [0.28, 0.34], p = 0.031, n = 6.
///     score = additive is better: val_accuracy is 0.022 higher [0.011, 0.033], p = 0.016, n = 7.
///     heads = 8 is the same as the reference: the difference, +0.02 nats [-0.01, 0.05], is within the margin of 0.1
///     nats (equivalence test: p = 0.001, n = 8).
///     norm = post is undecided (no difference from the reference is shown): +0.02 nats [-0.05, 0.09], p = 0.44, n = 6.
///     With the spread at its upper 80 % bound, a true difference of 0.12 nats would be found in 80 of 100 such sweeps.
///     The model without scale is equal to the reference, bit for bit: both have the same val_loss in each of 6 seeds.
///     The model without scale is underpowered: with n = 5, p cannot be below 0.0625; at least 6 seeds are needed. So
///     far +0.02 nats (Student's interval, not corrected for other arms: [-0.05, 0.09]).
/// `higher` and `lower` follow a positive number; the other forms show the arm minus the reference. If no direction is
/// better, an arm `differs`. Brackets contain the simultaneous 95 % interval over all arms, which agrees with the
/// answer (`Comparison::interval`); if all differences are equal, there is "in each of 7 seeds" instead. An arm named
/// "without X" is written as "The model without X". The sentence is empty for the reference.
/// If both are at chance or at the metric's bound, the sentence begins with this (`limit_remark`).
/// If outcomes are bimodal, the sentence begins with the proportions of seeds that learned. Failed runs add a last
/// sentence, with the p for ranking failed runs worst.
/// @param digits  of the report's table
std::string answer_sentence(const ReportData& report, const ReportArm& arm, const TableDigits& digits);

/// Its parts: remarks that must be read first, the sentence about the comparison, and what weakens it.
struct AnswerSentence {
  std::string before, answer, after;
};
AnswerSentence answer_parts(const ReportData& report, const ReportArm& arm, const TableDigits& digits);

/// "The model without residual connections"; "At length = 64, score = additive".
std::string subject(const ReportData& report, const ReportArm& arm);
/// "0.05 nats". The report has a margin.
std::string margin_text(const ReportData& report);

/// The sentences about arms at chance or at the metric's bound (`limit_sentences`), then the sentences of all arms
/// except the reference, then those of the interactions.
std::vector<std::string> answer_sentences(const ReportData& report);

/// The same for readers with little room: arms without remarks that are the same as the reference, equal to it, or
/// undecided, share a sentence; so each arm that differs, and each with a remark, has its own.
std::vector<std::string> short_answer_sentences(const ReportData& report);

/// " nats"; " in val_accuracy" for a metric without a unit.
std::string unit_of(const Metric& metric);
/// "+0.02 nats [-0.05, 0.09]": the arm minus the reference.
std::string signed_difference(const statistics::Comparison& c, const std::string& unit, Decimals decimals);

/// "0.05"; "0.0354" at a planned look.
std::string level_text(double level);

/// The confidence of the reported intervals: "95 %"; "96.5 %" at a planned look; "each look's %" for several looks.
std::string confidence_text(const ReportData& report);

/// Whether some comparison has an interval. With fewer than 6 seeds there is none.
bool has_intervals(const ReportData& report);

/// "all runs failed" for an arm that has no answer for this reason; empty for all others.
std::string missing_answer(const ReportArm& arm);

/// " (n = 6)" for an arm whose answer an earlier look found: its difference, interval and p have fewer seeds than its
/// mean. Otherwise empty.
std::string earlier_look_text(const ReportData& report, const ReportArm& arm);

/// " 2 of 8 seeds are excluded (runs that failed, cannot be used, or have no result)."; empty for none.
std::string excluded_seeds(std::size_t count, std::size_t of);

/// "underpowered: with n = 5, p cannot be below 0.0625; at least 6 seeds are needed".
std::string underpowered_words(std::string_view n, double smallest_p, std::size_t seeds_needed);

/// "p = 0.031, n = 6".
std::string p_and_n(const statistics::Comparison& c, double p);

/// "by ranks it is better, by the mean worse".
std::string contradiction(const Metric& metric, const statistics::Comparison& c);

/// better, worse, differs: there is a difference (differs: neither direction of the metric is better). same: the
/// difference is within the margin. equal: the metric is the same number in all seeds. undecided: none of these.
/// underpowered: there are too few runs for any answer. none: there is nothing to compare. In reports that ask for it,
/// not_worse: not worse by more than the margin; worse: worse by more than the margin.
enum class AnswerWord { none, better, worse, differs, same, not_worse, equal, undecided, underpowered };
BOOST_DESCRIBE_ENUM(AnswerWord, none, better, worse, differs, same, not_worse, equal, undecided, underpowered)
/// "not worse".
std::string_view name_of(AnswerWord word);
AnswerWord answer_word(const std::optional<statistics::Comparison>& comparison, const Metric& metric);
/// better, worse or differs.
bool is_difference(AnswerWord word);

struct Verdict {
  AnswerWord answer = AnswerWord::none;
  std::string side;       ///< the side of the difference (`side_words`), even if undecided; empty for 0
  std::string difference; ///< "+0.31", or "equal, bit for bit"
  std::string interval;   ///< "[+0.28, +0.34]"; empty if there is none
};
/// The names of a difference below 0 and of one above 0: "better", "worse"; "lower", "higher" if no direction is
/// better.
std::array<std::string_view, 2> side_words(Direction direction);

/// @param decimals  of the difference and its interval, unless they need powers of ten
Verdict verdict_of(const statistics::Comparison& comparison, const Metric& metric, int decimals);

} // namespace heed
