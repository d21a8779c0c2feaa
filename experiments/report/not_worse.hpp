// The texts of reports that ask whether arms are not worse than their reference by more than a margin.
#pragma once

#include "experiments/report/numbers.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/statistics/comparison.hpp"

#include <string>
#include <vector>

namespace heed {

/// The sentence about a comparison of Question::not_worse, without remarks on missing runs:
///     alibi is not worse by more than 0.02: accuracy is 0.004 higher, and at most 0.009 lower (one-sided 95 % bound
///     for all arms together), p = 0.016, n = 6.
///     alibi is better: accuracy is 0.030 higher, and at least 0.011 higher (...), p = 0.031, n = 6.
///     alibi is worse by more than 0.02: accuracy is 0.051 lower, and at most 0.062 lower (...), p = 0.016, n = 6.
///     alibi is undecided (it may or may not be worse by more than 0.02): accuracy is 0.004 lower, and at most 0.031
///     lower (...), p = 0.11, n = 6.
/// p is that of the answer; of an undecided arm, that of *not worse*. The answer must not be `underpowered`.
/// @param who  the sentence's subject
std::string not_worse_sentence(const ReportData& report, const ReportArm& arm, const std::string& who,
                               Decimals decimals);

/// " If failed runs count as the worst of all, p = 0.31 (...): the answer does not hold." The arm has such a p.
std::string not_worse_with_failed(const ReportArm& arm);

/// "; this mean is beyond the margin", if the mean over later seeds is not as an earlier look's answer says; or empty.
std::string_view contradicted_later(const statistics::Comparison& found, const statistics::Comparison& later);

/// For several arms that are not worse, or undecided, one sentence: "a, b and c are not worse than the reference by
/// more than 0.02 (largest possible loss 0.012)."
/// @param names  of these arms
std::string shared_not_worse_sentence(const ReportData& report, const std::string& names,
                                      const std::vector<const ReportArm*>& arms, const TableDigits& digits);

// The report's notes. The level is "0.05", or "its look's level".
std::string not_worse_difference_note(const ReportData& report, const std::string& level);
std::string not_worse_p_note(const ReportData& report, const std::string& flips);
std::string not_worse_answer_note(const ReportData& report, const std::string& level);
/// The same in one sentence.
std::string not_worse_answer_claim(const ReportData& report, const std::string& level);

} // namespace heed
