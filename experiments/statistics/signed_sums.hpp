// Enumerates sums over seeds under every flip of the seeds' signs, for the sign-flip tests and intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace heed::statistics {

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

} // namespace heed::statistics
