// Sign-flip tests: if an arm and its reference do not differ, each seed's difference could equally have the opposite
// sign. They assume nothing about the distribution of the differences, so they are valid with few seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heed::statistics {

/// One arm's differences from the reference: `values[i]` belongs to the seed `seeds[i]`. Each seed appears once.
struct SeedDifferences {
  std::vector<std::int64_t> seeds;
  std::vector<double> values;
};

/// Up to this number of seeds, all 2^n flips are enumerated.
inline constexpr std::size_t most_exact_seeds = 20;
/// With more seeds, this number of flips is drawn; the observed data count as one more.
inline constexpr std::uint64_t random_flips = 99'999;

/// The alternative hypothesis: a difference of either sign, or only above 0.
enum class Sides { both, above };

struct FlipTest {
  std::vector<double> p;   ///< of each arm, corrected over all arms
  bool exact = true;       ///< true: all flips; false: a sample, so p has a standard error of about sqrt(p / flips)
  std::uint64_t flips = 0; ///< number of flips, including the observed data
};

/// The step-down max-|t| procedure (Westfall and Young 1993, "Resampling-based multiple testing"; Romano and Wolf 2005,
/// doi 10.1198/016214504000000539). With the arms in decreasing order of |t|, arm i has
///     p_i = max over j <= i of the proportion of flips in which max over k >= j of |t_k| is at least arm j's own |t|.
/// A flip assigns one sign to each *seed*, and all arms' differences of this seed take it. All arms use the same
/// reference run of a seed, so this preserves the dependence between arms. Arms with different sets of seeds use the
/// signs of the seeds that they have. For a single arm, p is the p of the plain sign-flip test. The smallest p is
/// 2^(1 - n) for any number of arms. An arm reaches it if all its differences have one sign, and no flip gives another
/// arm an |t| that is at least as large.
///
/// The probability that any arm without a difference gets p <= 0.05 is at most 0.05 if the vector of a seed's
/// differences over the arms is distributed like its negative. For one arm, exchangeable runs are sufficient; for
/// several arms, symmetric noise is.
///
/// With Sides::above, t replaces |t| throughout, and the smallest p is 2^-n.
///
/// t = mean / (sd / sqrt(n)). If all differences are equal, |t| is infinite; if all are zero, it is 0. An arm with one
/// difference has no t: its p is 1, and it does not affect other arms' p.
/// Throws heed::Failed for values that are not finite, and for an arm without values.
FlipTest step_down_flips(std::span<const SeedDifferences> arms, Sides sides = Sides::both);

/// `step_down_flips` for each arm separately, without correction, in one pass.
std::vector<double> flips_of_each(std::span<const SeedDifferences> arms);

} // namespace heed::statistics
