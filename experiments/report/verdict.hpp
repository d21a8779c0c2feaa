// The verdict on an arm. It is decided here only, and all formats show it.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/statistics/comparison.hpp"

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
  std::string difference; ///< "+0.31", or "equal, bit for bit"
  std::string interval;   ///< "[+0.28, +0.34]"; empty where there is none
};
/// @param decimals  of the difference and its interval, unless powers of ten show more
Verdict verdict_of(const statistics::Comparison& comparison, const Metric& metric, int decimals);

} // namespace heed
