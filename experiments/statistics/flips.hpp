// Sign-flip tests: if an arm and its reference do not differ, each seed's difference could equally have the opposite
// sign. They assume nothing about the distribution of the differences, so they are valid with few seeds. Sums over
// seeds are enumerated under every flip of the seeds' signs, of differences that are scaled alike for all arms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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

/// A value of a seed in a column.
struct SeedValue {
  std::size_t seed = 0, column = 0;
  double value = 0;
};

/// Values for seeds and columns, of which only those that exist are stored. A seed without a value in a column adds
/// nothing to its sum. A table of 1,000 arms with seeds of their own therefore takes no more memory and time than its
/// values.
class SeedRows {
public:
  /// The values of one seed, in the order of the columns.
  struct Row {
    std::size_t seed = 0, first = 0, count = 0; ///< first: index of its first value
  };

  /// @param values  at most one of a seed and a column, in any order
  SeedRows(std::size_t seeds, std::size_t columns, std::vector<SeedValue> values);

  std::size_t seeds() const { return seeds_; }
  std::size_t columns() const { return columns_; }
  const std::vector<Row>& rows() const { return rows_; } ///< by seed; seeds without values are left out
  const std::size_t* columns_of(const Row& row) const { return places_.data() + row.first; }
  const double* values_of(const Row& row) const { return values_.data() + row.first; }

private:
  std::size_t seeds_, columns_;
  std::vector<Row> rows_;
  std::vector<std::size_t> places_;
  std::vector<double> values_;
};

enum class Flips {
  half,   ///< the flips that do not change the first seed's sign: the others are their mirror images
  all,    ///< 2^seeds
  sampled ///< `random_flips` drawn flips, after the unflipped values
};

/// Calls `visit` with the columns' sums for one flip after the other, beginning with the unflipped values. Returns the
/// number of flips. The flips, also the sampled ones, depend only on the number of seeds. Needs at least one seed; with
/// `half` and `all`, takes memory for a value of each seed and column. The caller can stop it (PollScope).
std::uint64_t each_flip(const SeedRows& rows, Flips flips, const std::function<void(const double* sums)>& visit);

/// t^2 / (1 + t^2), from 0 for t = 0 to 1 for infinite t. t^2 = (n - 1) c / (1 - c), c = sum^2 / (n sum of squares),
/// because flips do not change the squares.
double size_of_t(double n, double squares, double sum);

/// An arm's differences, divided by a power of two: their squares and sums of squares cannot overflow, and no bit is
/// lost.
struct ScaledDifferences {
  double n = 0, scale = 1, sum = 0, squares = 0;
  std::vector<double> values;

  explicit ScaledDifferences(std::span<const double> differences);
};

/// Maps each seed of any arm to its row.
std::map<std::int64_t, std::size_t> rows_of(std::span<const SeedDifferences> arms);

/// Throws heed::Failed for values that are not finite, and for an arm that has no values or not one value for each
/// seed.
void check(std::span<const SeedDifferences> arms);

} // namespace heed::statistics
