// Detects arms whose results are identical to the reference's in every seed, and gives the text that reports say then.
#pragma once

#include "experiments/statistics/comparison.hpp"

#include <string_view>

namespace heed {

/// The text that replaces a difference of 0 in every seed and its interval.
inline std::string_view equal_words(const statistics::Comparison& c) {
  return c.rounded ? "equal but for rounding" : "equal, bit for bit";
}

/// Whether the metric is the same number in all common seeds, exactly or up to rounding.
inline bool equal_in_all_seeds(const statistics::Comparison& c) { return c.equal; }

} // namespace heed
