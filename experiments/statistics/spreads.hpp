// Tests whether two arms have equal spreads: tests of means need it if the noise is skewed.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

/// The median; of an even number of values, the mean of the middle two. There must be a value.
double median(std::span<const double> values);

/// Paired by seed: sign flips of ra^2 - rb^2, where ra and rb are the values less their mean. This is the test by
/// Pitman (1939, doi 10.1093/biomet/31.1-2.9) and Morgan (1939, doi 10.1093/biomet/31.1-2.13) that the sum and the
/// difference of a pair do not correlate. `differences` are a - b, in which what differs by rounding only is equal.
/// Returns the values to flip.
std::vector<double> spread_differences(std::span<const double> a, std::span<const double> b,
                                       std::span<const double> differences);

/// Unpaired: the permutation test (`permutation_test`) of the distances from the arm's median (Brown and Forsythe 1974,
/// doi 10.1080/01621459.1974.10482955). Empty if an arm has fewer than three runs.
std::optional<double> p_of_equal_spreads(std::span<const double> a, std::span<const double> b);

} // namespace heed::statistics
