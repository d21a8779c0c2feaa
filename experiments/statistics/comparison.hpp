// All that is said of arms against their reference.
#pragma once

#include "experiments/statistics/effect.hpp"
#include "experiments/statistics/paired.hpp"
#include "experiments/statistics/power.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace heed::statistics {

/// What p values are held against, unless looks are planned (`look_levels`).
inline constexpr double significance_level = 0.05;

/// paired: runs of one seed are compared with each other, by sign flips. unpaired: all runs of the arm with all of the
/// reference, by permutations; more often finds a difference where seeds pair badly, and asks for runs that don't depend
/// on each other.
enum class Test { paired, unpaired };

/// differs: p is at most the level, 5 %. same: within the margin, by the test of equivalence at that level, even where a
/// difference within it is found, too. undecided: neither. underpowered: not the same, and too few runs to tell a
/// difference at the level whatever the data: fewer than 6 pairs.
enum class Answer { differs, same, undecided, underpowered };
std::string_view name_of(Answer answer);

/// An arm against its reference; paired, d = arm - reference of a seed.
struct Comparison {
  std::vector<std::int64_t> seeds; ///< that both have; never none
  PairedDifference difference;     ///< mean, Student's t interval of this arm alone
  /// By flips, of all arms together (`flip_intervals`): what is shown. Agrees with p: an end is moved to 0 where that
  /// takes 0 in or out, as p is above the level or not. Within what the metric's bounds allow. None with fewer than 6 pairs.
  std::optional<Interval> interval;
  std::optional<Interval> interval_flips;      ///< by flips, of this arm alone
  std::optional<Estimate> interquartile;       ///< interquartile mean of d with its BCa interval (approximate)
  std::optional<double> effect_size;           ///< d_z with Hedges' correction
  std::optional<Estimate> improvement;         ///< P(arm better than the reference), Clopper-Pearson; ties count half
  std::optional<double> correlation;           ///< of the pairs, Pearson's r (`pair_correlation`)
  std::optional<double> p_flip;                ///< sign flips of this arm alone
  std::optional<double> p_holm;                ///< Holm's correction of p_flip over the arms
  std::optional<double> p;                     ///< step-down max-|t| over all arms: what is reported
  bool exact = true;                           ///< p counts all flips; false: a sample of them (more than 20 seeds)
  std::uint64_t flips = 0;                     ///< that p counts
  std::optional<double> margin, p_equivalence; ///< TOST against [report] margin, where there is one; this arm alone
  std::optional<double> p_equivalence_flips;   ///< sign flips over all arms with 5 pairs: what `same` goes by
  /// Where the answer is `same`: what the two one-sided tests of this arm alone don't reject, each at the level (90 % where
  /// that is 5 %). It lies within the margin, since p_equivalence_flips is no smaller than their p.
  std::optional<Interval> equivalence;
  Answer answer = Answer::undecided;
  bool rounded = false;              ///< some values of a pair that differed by rounding were taken as equal
  std::size_t reference_runs = 0;    ///< unpaired: the reference's, where `seeds` are the arm's; 0: runs are paired
  std::size_t family = 0;            ///< how many arms p is corrected over, this one included
  double smallest_p = 1;             ///< that so many runs can reach, whatever the data
  std::size_t seeds_needed = 0;      ///< of every arm, for smallest_p to be the level at most
  double level = significance_level; ///< what p is held against; intervals have 1 - level
};

/// One arm's results: `values[i]` of the seed `seeds[i]`.
struct SeedValues {
  std::vector<std::int64_t> seeds;
  std::vector<double> values;
};

/// What is asked of an arm.
struct Question {
  Test test = Test::paired;
  bool higher_is_better = false;
  std::optional<double> margin = {}; ///< differences up to this are the same, in the metric's unit
  std::optional<double> range = {};  ///< no two values differ by more: of an accuracy 1
  /// Values that differ by no more than this share of the larger are equal: their difference is rounding.
  double resolution = 0;
  double level = significance_level; ///< what p is held against, here 5 %; intervals have 1 - level
};

/// Compares each arm with its reference, and corrects for there being several; in the order of `arms`, none for an arm
/// that shares no seed with its reference, and for a reference.
/// @param reference_of  for each arm which of them is its reference; itself: it is one
///
/// p corrects over all arms that can reach 5 %. One with fewer than 6 pairs can't, so that it takes nothing from the
/// others (Tarone 1990, doi 10.2307/2531456); such arms are corrected over themselves. The tests of equivalence by flips
/// are corrected over the arms that can reach 5 % in them.
///
/// Unpaired, p is the permutation test's (`permutation_test`) with Holm's correction, as is the test of equivalence, and
/// the intervals are Bonferroni's; d_z is Hedges' g, and of d alone nothing is said.
/// Throws heed::Failed for values that are not finite.
std::vector<std::optional<Comparison>> compare(std::span<const SeedValues> arms,
                                               std::span<const std::size_t> reference_of, const Question& question);

/// The same with a question of its own for each arm, as where several metrics of the same runs are one family: each
/// metric's values are arms, with that metric's reference, and p is corrected over all of them. The test and
/// the level must be the same for all, and so must the margin of those that have one. Throws heed::Failed where they are not.
std::vector<std::optional<Comparison>> compare_each(std::span<const SeedValues> arms,
                                                    std::span<const std::size_t> reference_of,
                                                    std::span<const Question> questions);

} // namespace heed::statistics
