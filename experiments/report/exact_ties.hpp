// Arms that came to just what their references came to.
#pragma once

#include "experiments/statistics/comparison.hpp"

#include <string_view>

namespace heed {

/// What is said in place of a difference that is 0 in every seed, and of its interval.
inline std::string_view equal_words(const statistics::Comparison& c) {
  return c.rounded ? "equal but for rounding" : "equal, bit for bit";
}

/// Whether the metric is the same number, or that but for rounding, in all seeds that both have. Where the differences' mean is 0 and they don't
/// vary, each of them is 0.
inline bool equal_in_all_seeds(const statistics::Comparison& c) {
  return c.reference_runs == 0 && c.difference.mean == 0 && c.difference.standard_deviation.value_or(0) == 0;
}

/// The answer as a word: what is equal needs none of the statistics'.
inline std::string_view answer_word(const statistics::Comparison& c) {
  return equal_in_all_seeds(c) ? "equal" : statistics::name_of(c.answer);
}

} // namespace heed
