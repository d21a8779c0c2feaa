// Tests that flip signs: were an arm and the reference alike, each seed's difference could as well have had the other
// sign. Nothing is assumed of the differences' distribution, so these hold with few seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heed::statistics {

/// One arm's differences from the reference, `values[i]` of the seed `seeds[i]`. No seed stands there twice.
struct SeedDifferences {
  std::vector<std::int64_t> seeds;
  std::vector<double> values;
};

/// Up to so many seeds, all 2^n flips are gone through.
inline constexpr std::size_t most_exact_seeds = 20;
/// Beyond, so many are drawn; the data as they are count as one more.
inline constexpr std::uint64_t random_flips = 99'999;

/// Which differences speak against the hypothesis that there is none: of either sign, or above 0 alone.
enum class Sides { both, above };

struct FlipTest {
  std::vector<double> p;   ///< of each arm, corrected for all of them together
  bool exact = true;       ///< all flips; false: a sample, so that p is known to about sqrt(p / flips)
  std::uint64_t flips = 0; ///< how many, the data as they are included
};

/// The step-down max-|t| procedure (Westfall and Young 1993, "Resampling-based multiple testing"; Romano and Wolf 2005,
/// doi 10.1198/016214504000000539). With arms in falling order of their |t|, arm i has
///     p_i = max over j <= i of the share of flips in which max over k >= j of |t_k| is at least arm j's own |t|.
/// A flip gives each *seed* a sign, which all arms' differences of that seed take: arms are compared with the same
/// reference run of a seed, and stay as dependent as they are. Arms with other sets of seeds take the signs of those
/// that they have. One arm alone has the plain sign-flip test's p. What can be reached is 2^(1 - n), whatever the
/// number of arms; an arm reaches it where all its differences have one sign, and no flip makes another arm as clear.
///
/// The chance that any arm without a difference gets p <= 0.05 is at most 0.05 where a seed's differences, seen as a
/// vector over the arms, are as likely as their negatives. For one arm, that follows from exchangeable runs; for
/// several, from noise that is as likely to go up as down.
///
/// With Sides::above, t takes the place of |t| throughout, and what can be reached is 2^-n.
///
/// t = mean / (sd / sqrt(n)); differences that are all alike have an infinite |t|, and those that are all zero have 0.
/// An arm with one difference has no t: its p is 1, and it weighs in no other's.
/// Throws heed::Failed for numbers that are not finite, and for an arm without any.
FlipTest step_down_flips(std::span<const SeedDifferences> arms, Sides sides = Sides::both);

/// Each arm's p by itself: `step_down_flips` of it alone, for all of them in one go.
std::vector<double> flips_of_each(std::span<const SeedDifferences> arms);

} // namespace heed::statistics
