// Pairs the values of an arm and its reference by their seeds.
#pragma once

#include "experiments/statistics/comparison.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace heed::statistics {

/// Values of the common seeds of an arm and its reference, in the arm's order.
struct Pairs {
  std::vector<std::int64_t> seeds;
  std::vector<double> arm, reference, differences;
  std::vector<double> tested; ///< the differences that p is of; of ranks if some values are censored
  bool rounded = false, censored = false;
};

/// Whether two values differ by no more than rounding.
bool same_value(double a, double b, double resolution);

/// Returns a; values that differ from b's only by rounding are set to b's.
std::vector<double> without_rounding(std::vector<double> a, const std::vector<double>& b, double resolution);

/// Whether values that are only known to be no less are among them (ComparisonRequest::censored_at).
bool any_censored(const std::vector<double>& values, const ComparisonRequest& request);

/// Where the values of each seed are, of an arm that several arms are paired with.
class SeedPlaces {
public:
  explicit SeedPlaces(const SeedValues& of);
  std::optional<std::size_t> of(std::int64_t seed) const; ///< empty if it has no value of this seed

private:
  std::vector<std::pair<std::int64_t, std::size_t>> places_; ///< sorted
};

/// The pairs, in which values that differ by rounding alone are equal. Its time is linear, but for sorting.
/// @param places  of the reference's seeds
Pairs pair_up(const SeedValues& arm, const SeedValues& reference, const SeedPlaces& places,
              const ComparisonRequest& request);

} // namespace heed::statistics
