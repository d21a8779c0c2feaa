// Confidence intervals from sign flips: the set of differences that the flip tests do not reject.
#pragma once

#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/paired.hpp"

#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

/// Confidence intervals of each arm's mean difference. An entry is empty if an end is infinite, because there are fewer
/// seeds than the level needs.
struct FlipIntervals {
  std::vector<std::optional<Interval>> alone;    ///< separate interval for each arm
  std::vector<std::optional<Interval>> together; ///< simultaneous intervals: all cover with the given confidence
};

/// Inverts the tests of `step_down_flips` at the level 1 - confidence. `alone` contains every theta for which the flips
/// of d - theta give p above the level. A flip's |t| is at least the data's |t| exactly if theta lies between the mean
/// of the d with a flipped sign and the mean of the other d. So the ends are order statistics of these means over the
/// flips; with six seeds they are the smallest and the largest difference.
///
/// `together` inverts the single-step max-|t| test: a flip also counts for an arm's theta if any other arm's |t| is at
/// least this arm's |t|; the other arms are centred at their means. The standard deviation of their flipped differences
/// counts as at least half of that of the differences, so that an arm with only two outcomes widens the intervals of
/// the others little. The intervals cover all arms' true differences with the given confidence if the noise is
/// symmetric. With few seeds this holds only approximately, because the other arms' true differences are unknown
/// (Westfall and Young 1993, "Resampling-based multiple testing", 2.6).
///
/// An interval contains the mean. It is only the mean if all differences are equal and there are enough seeds. It is
/// exact up to `most_exact_seeds` seeds, and uses a sample of flips for more. The flips are the same as those of the
/// tests.
/// Throws heed::Failed for values that are not finite, for an arm without values, and for a confidence outside (0, 1).
FlipIntervals flip_intervals(std::span<const SeedDifferences> arms, double confidence = 0.95);

} // namespace heed::statistics
