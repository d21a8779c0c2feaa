// Summaries of one sample: an arm's results over its seeds.
#pragma once

#include <optional>
#include <span>

namespace heed::statistics {

/// The arithmetic mean. Needs at least one value (heed::Failed).
double mean(std::span<const double> values);

/// The sample standard deviation, sqrt(sum (x - mean)^2 / (n - 1)); none for fewer than two values.
std::optional<double> standard_deviation(std::span<const double> values);

/// The mean of the middle half: a quarter of the sample's weight is cut from each end of the sorted values, where a
/// value at the cut counts by the part of it that stays. For n divisible by 4 the same as SciPy's trim_mean(x, 0.25),
/// which cuts whole values only. Needs at least one value (heed::Failed). Agarwal et al. 2021, arXiv 2108.13264.
double interquartile_mean(std::span<const double> values);
/// The same of values that stand in rising order.
double interquartile_mean_of_sorted(std::span<const double> sorted);

} // namespace heed::statistics
