// The answer on an arm as one word, the same in all formats, and the texts beside it.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/statistics/comparison.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

/// better, worse, differs: there is a difference (differs: neither direction of the metric is better). same: the
/// difference is within the margin. equal: the metric is the same number in all seeds. undecided: none of these.
/// underpowered: there are too few runs for any answer. none: there is nothing to compare.
enum class AnswerWord { none, better, worse, differs, same, equal, undecided, underpowered };
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
