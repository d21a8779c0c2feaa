// Compares arms with their reference: differences, intervals, corrected p values, equivalence and the answer.
#pragma once

#include "experiments/statistics/power.hpp"
#include "experiments/statistics/summary.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

/// The significance level of p, unless interim looks are planned (`look_levels`).
inline constexpr double significance_level = 0.05;

/// paired: compares runs of the same seed, by sign flips. unpaired: compares all runs of the arm with all runs of the
/// reference, by permutations. The unpaired test has more power if pairing by seed reduces no noise, but it requires
/// independent runs.
enum class Test { paired, unpaired };

/// What is asked of an arm. difference: does it differ from its reference, or is it the same within a margin?
/// not_worse: is it not worse than its reference by more than a margin (noninferiority.hpp)?
enum class Question { difference, not_worse };

/// differs: p is at most the level (5 %), and not `contradicts`. same: the equivalence test at this level finds the
/// difference within the margin, even if p also finds a difference. undecided: neither. underpowered: not the same, and
/// too few runs to reach the level with any data (fewer than 6 pairs).
/// Of Question::not_worse: better: the lower bound is above 0. not_worse: not better, and p is at most the level.
/// worse: neither, and worse by more than the margin is found. undecided, underpowered (fewer than 5 pairs): none of
/// these.
enum class Answer { differs, same, better, not_worse, worse, undecided, underpowered };

/// The results of Question::not_worse beside `Comparison::p`, which is the p of *not worse by more than the margin*.
struct Noninferiority {
  double margin = 0;
  double difference = 0; ///< mean difference in the better direction
  /// Lower one-sided bound of the difference in the better direction, simultaneous over all arms. It is above 0 exactly
  /// if the arm is better, and otherwise above -margin (or moved to it) exactly if it is not worse. Empty with fewer
  /// than 5 pairs, if all differences are equal, and if only ranks are tested.
  std::optional<double> bound;
  double p_better = 1; ///< of a difference above 0: the level at which the bound is 0, and never below p
  /// Of a difference below -margin, corrected over the arms in a family of its own. Empty if only ranks are tested.
  std::optional<double> p_worse;
  /// With censored runs, nothing is known of the margin: p is that of *better*, by ranks if the comparison is `ranked`.
  bool only_better = false;
};

/// An arm compared with its reference. If paired, d = arm - reference for each seed.
struct Comparison {
  std::vector<std::int64_t> seeds; ///< the seeds that both have; never empty
  PairedDifference difference;     ///< mean; Student's t interval for this arm only
  /// Simultaneous over all arms; reports show this interval. If the answer is `same`, it is that of the equivalence
  /// tests (`equivalence_intervals`; unpaired: Bonferroni), extended to contain 0; otherwise it inverts the tests of
  /// a difference (`flip_intervals`). It agrees with the answer: where they disagree, an end is moved, so that it
  /// excludes 0 exactly if the arm `differs` (unless p and the answer do), and lies within the margin exactly if it is
  /// the `same`. It is clipped to the metric's range. Empty with fewer than 6 pairs, unless the answer is `same`.
  /// Of Question::not_worse it is one-sided, from the bound (`Noninferiority::bound`) to infinity on the better side.
  std::optional<Interval> interval;
  std::optional<Interval> interval_flips; ///< by sign flips, for this arm only
  std::optional<Estimate> interquartile;  ///< interquartile mean of d with its BCa interval (approximate)
  std::optional<double> effect_size;      ///< d_z with Hedges' correction
  std::optional<Estimate> improvement;    ///< P(arm better than the reference), Clopper-Pearson; ties count half
  std::optional<double> correlation;      ///< Pearson's r of the pairs (`pair_correlation`)
  /// p of equal spreads, for this arm only (spreads.hpp); empty with fewer than three pairs or runs, and if `ranked`.
  std::optional<double> p_spreads;
  std::optional<double> p_flip; ///< sign flips, for this arm only
  std::optional<double> p_holm; ///< Holm's correction of p_flip over the arms
  /// Step-down max-|t| over all arms; the reported p. Of Question::not_worse, see `Noninferiority`.
  std::optional<double> p;
  bool exact = true;       ///< true: p counts all flips; false: a sample of them (more than 20 seeds)
  std::uint64_t flips = 0; ///< the number of flips that p counts
  /// Equivalence margin of [report], if any, and the TOST p for this arm only.
  std::optional<double> margin, p_equivalence;
  /// Sign flips, corrected over all arms with at least 5 pairs; decides `same`.
  std::optional<double> p_equivalence_flips;
  std::optional<Noninferiority> noninferiority = {}; ///< of Question::not_worse
  Answer answer = Answer::undecided;
  /// Some runs are censored (`ComparisonRequest::censored_at`). Then all p are of ranks among the arm's and the
  /// reference's values, and all other statistics are of the values, which are restricted to the horizon. Nothing is
  /// the same.
  bool ranked = false;
  double rank_difference = 0; ///< mean rank of the arm minus the reference's, if `ranked`
  bool contradicts = false;   ///< the ranks find a difference, and the values' mean is 0 or has the other direction
  /// All differences of at least two pairs are equal, and not 0. Then their spread is unknown, and no interval is
  /// stated, except the margin's for `same`.
  bool constant = false;
  bool equal = false;                ///< all runs of common seeds have the same value; unpaired: of the same seeds
  bool rounded = false;              ///< some values of a pair differed only by rounding and were treated as equal
  std::size_t reference_runs = 0;    ///< unpaired: the reference's number of runs (`seeds` are the arm's); 0: paired
  std::size_t family = 0;            ///< number of arms that p is corrected over, including this one
  double smallest_p = 1;             ///< the smallest p that this number of runs can reach with any data
  std::size_t seeds_needed = 0;      ///< seeds of each arm with which smallest_p is at most the level
  double level = significance_level; ///< significance level of p; intervals have confidence 1 - level
};

/// One arm's results: `values[i]` belongs to the seed `seeds[i]`.
struct SeedValues {
  std::vector<std::int64_t> seeds;
  std::vector<double> values;
};

/// How an arm is compared with its reference.
struct ComparisonRequest {
  Test test = Test::paired;
  bool higher_is_better = false;
  std::optional<double> margin = {}; ///< equivalence margin: differences up to this are the same, in the metric's unit
  std::optional<double> range = {};  ///< width of the metric's range; 1 for an accuracy
  /// Values whose relative difference (to the larger) is at most this are equal: their difference is rounding. By the
  /// same rule, differences are equal to each other, to 0 and to the margin. So rounding is never noise.
  double resolution = 0;
  double rounding = 0; ///< likewise values that differ by at most this; for values that are themselves differences
  double level = significance_level; ///< significance level of p, 5 % by default; intervals have confidence 1 - level
  /// The value of runs that did not reach a target within the horizon: all that is known is that they are no better.
  /// Their order is known, so the tests are by ranks (with one horizon for all runs, the paired test is of Wilcoxon's
  /// ranks, and the unpaired one is Gehan's, 1965, doi 10.1093/biomet/52.1-2.203).
  std::optional<double> censored_at = {};
  /// not_worse needs a margin. Its arms are one family, and those that are asked for a difference another.
  Question question = Question::difference;
};

/// Compares each arm with its reference and corrects for multiple comparisons. Results are in the order of `arms`. A
/// result is empty for a reference, and for an arm that shares no seed with its reference.
/// @param reference_of  for each arm, the index of its reference; a reference has its own index
///
/// p is corrected over all arms that can reach 5 %. An arm with fewer than 6 pairs cannot reach it, so it does not
/// affect the other arms' p (Tarone 1990, doi 10.2307/2531456); such arms are corrected among themselves. Equivalence
/// tests by flips are corrected over the arms that can reach 5 % in them.
///
/// Unpaired: p is the p of the permutation test (`permutation_test`) with Holm's correction over the arms that can
/// reach the level with it (Tarone 1990); the p of any other arm is multiplied by the number of all arms. The
/// equivalence test is treated alike. Intervals have Bonferroni's correction. The effect size is Hedges' g, and
/// statistics of d are absent. Throws heed::Failed for values that are not finite.
std::vector<std::optional<Comparison>> compare(std::span<const SeedValues> arms,
                                               std::span<const std::size_t> reference_of,
                                               const ComparisonRequest& request);

/// Like `compare`, with one request for each arm. Use it if several metrics of the same runs form one family: each
/// metric's values are passed as arms with this metric's reference, and p is corrected over all of them. All requests
/// must have the same level, and those with a margin the same margin; otherwise throws heed::Failed. If some are paired
/// and others unpaired, the p of the paired tests, by sign flips of the arm only, are corrected with the others by
/// Holm's method.
std::vector<std::optional<Comparison>> compare_each(std::span<const SeedValues> arms,
                                                    std::span<const std::size_t> reference_of,
                                                    std::span<const ComparisonRequest> requests);

} // namespace heed::statistics
