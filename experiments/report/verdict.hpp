// The verdict on an arm, used by all report formats.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/statistics/comparison.hpp"

#include <array>
#include <string>
#include <string_view>

namespace heed {

/// differs: neither direction is better. same: within the margin, or equal. open: none of the others.
enum class Mark { better, worse, differs, same, open };
std::string_view name_of(Mark mark);
Mark mark_of(const statistics::Comparison& comparison, const Metric& metric);

struct Verdict {
  Mark mark = Mark::open;
  bool equal = false;     ///< the metric is the same number in all seeds
  std::string word;       ///< "differs", "same", "undecided", "underpowered", "equal"
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
