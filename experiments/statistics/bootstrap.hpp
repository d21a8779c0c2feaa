// Bootstrap confidence intervals (BCa), for statistics whose distribution has no formula.
#pragma once

#include "experiments/statistics/summary.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

/// The quantile at p of sorted values; it interpolates linearly between neighbours, like NumPy's quantile.
double quantile_of_sorted(std::span<const double> sorted, double p);

using Statistic = std::function<double(std::span<const double>)>;

/// The bias-corrected and accelerated bootstrap interval (Efron 1987, doi 10.1080/01621459.1987.10478410). `resamples`
/// samples are drawn with replacement. The interval lies between these quantiles of the resampled statistics:
///     Phi(z0 + (z0 + z) / (1 - a (z0 + z))),  z = Phi^-1((1 -+ confidence) / 2).
/// z0 = Phi^-1(proportion of resampled statistics below the observed one, ties counted half) corrects the bias. The
/// jackknife gives the acceleration a = sum u^3 / (6 (sum u^2)^1.5), u_i = mean of theta_(.) - theta_(i). The draws use
/// a constant key, so the same values in the same order always give the same interval.
///
/// The interval is approximate: its coverage is correct only for many values. With six to ten values it is too narrow,
/// like every bootstrap interval. Empty for fewer than three values, and if all resampled statistics lie on one side of
/// the observed one. Throws heed::Failed for a confidence outside (0, 1).
std::optional<Interval> bca_interval(std::span<const double> values, const Statistic& statistic,
                                     double confidence = 0.95, std::uint64_t resamples = 10'000);

/// `bca_interval(sample, interquartile_mean)` for each sample, bit for bit. Samples of the same size share one set of
/// draws.
std::vector<std::optional<Interval>> interquartile_intervals(std::span<const std::span<const double>> samples,
                                                             double confidence = 0.95,
                                                             std::uint64_t resamples = 10'000);

} // namespace heed::statistics
