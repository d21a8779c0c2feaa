// The verdict on an arm. It is decided here only, and all formats show it.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/statistics/comparison.hpp"

#include <array>
#include <string>
#include <string_view>

namespace heed {

/// better, worse, differs (neither side is better); same: within the margin, or equal; open: none of these.
enum class Mark { better, worse, differs, same, open };
std::string_view name_of(Mark mark);
Mark mark_of(const statistics::Comparison& comparison, const Metric& metric);

struct Verdict {
  Mark mark = Mark::open;
  bool equal = false;     ///< the metric is the same number in all seeds
  std::string word;       ///< "differs", "same", "undecided", "underpowered", "equal"
  std::string side;       ///< of the difference (`side_words`), even where it is undecided; empty for 0
  std::string difference; ///< "+0.31", or "equal, bit for bit"
  std::string interval;   ///< "[+0.28, +0.34]"; empty where there is none
};
/// What a difference below 0 and one above it are called: "better", "worse"; "lower", "higher" where neither is better.
std::array<std::string_view, 2> side_words(Direction direction);

/// @param decimals  of the difference and its interval, unless powers of ten show more
Verdict verdict_of(const statistics::Comparison& comparison, const Metric& metric, int decimals);

} // namespace heed
