// Summary statistics of one sample: an arm's results over its seeds.
#pragma once

#include <optional>
#include <span>

namespace heed::statistics {

/// The arithmetic mean. Throws heed::Failed without values.
double mean(std::span<const double> values);

/// The sample standard deviation, sqrt(sum (x - mean)^2 / (n - 1)); empty for fewer than two values.
std::optional<double> standard_deviation(std::span<const double> values);

/// The mean of the middle half of the sorted values: a quarter of the total weight is cut from each end, and a value at
/// the cut counts with its remaining fraction. For n divisible by 4 this equals SciPy's trim_mean(x, 0.25), which cuts
/// only whole values. Throws heed::Failed without values. Agarwal et al. 2021, arXiv 2108.13264.
double interquartile_mean(std::span<const double> values);
/// `interquartile_mean` of values that are sorted in increasing order.
double interquartile_mean_of_sorted(std::span<const double> sorted);

} // namespace heed::statistics
