// Intervals of confidence from sign flips: the differences that the tests by flips would not reject.
#pragma once

#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/paired.hpp"

#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

/// Of each arm's mean difference. None where an end is infinite: with fewer seeds than can reach the level.
struct FlipIntervals {
  std::vector<std::optional<Interval>> alone;    ///< of each arm by itself
  std::vector<std::optional<Interval>> together; ///< all of them hold at once with the confidence
};

/// Inverts the tests of `step_down_flips`, at the level 1 - confidence. `alone` holds every theta for which the flips of
/// d - theta give p above the level. A flip's |t| reaches the data's just where theta lies between the means of the d
/// that it turns and of those that it leaves, so that the ends are order statistics of these means over the flips: with
/// six seeds the least and the greatest difference.
///
/// `together` inverts the single-step max-|t| test: a flip counts for an arm's theta also where any other arm's |t|
/// reaches the arm's own, those arms taken about their means. All arms' true differences lie within theirs with the
/// confidence, as far as noise is as likely to go up as down, and only nearly so for few seeds, since the other arms'
/// true differences are not known (Westfall and Young 1993, "Resampling-based multiple testing", 2.6).
///
/// An interval holds the mean, and is that alone where differences have no spread and there are seeds enough. Exact up
/// to `most_exact_seeds`, from a sample of flips beyond. The flips are those of the tests.
/// Throws heed::Failed for numbers that are not finite, an arm without any, and a confidence outside (0, 1).
FlipIntervals flip_intervals(std::span<const SeedDifferences> arms, double confidence = 0.95);

} // namespace heed::statistics
