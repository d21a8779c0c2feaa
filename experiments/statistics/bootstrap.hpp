// Intervals for statistics whose distribution has no formula.
#pragma once

#include "experiments/statistics/paired.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

using Statistic = std::function<double(std::span<const double>)>;

/// The bias-corrected and accelerated bootstrap interval (Efron 1987, doi 10.1080/01621459.1987.10478410). Of
/// `resamples` samples drawn with replacement, the interval lies between the quantiles
///     Phi(z0 + (z0 + z) / (1 - a (z0 + z))),  z = Phi^-1((1 -+ confidence) / 2),
/// where z0 = Phi^-1(share of the resampled statistics below the observed one, ties counted half) corrects the bias,
/// and the jackknife gives the acceleration a = sum u^3 / (6 (sum u^2)^1.5), u_i = mean of theta_(.) - theta_(i).
/// The draws are keyed by a constant, so that the same values, in the same order, always give the same interval.
///
/// It is approximate: its coverage is right for many values only, and with six to ten it is too narrow, as all
/// bootstraps are. None for fewer than three values, and where all resampled statistics lie on one side of the observed
/// one. Throws heed::Failed for a confidence outside (0, 1).
std::optional<Interval> bca_interval(std::span<const double> values, const Statistic& statistic,
                                     double confidence = 0.95, std::uint64_t resamples = 10'000);

/// `bca_interval(sample, interquartile_mean)` of each sample, to the same bits: what is drawn for one of n values is drawn
/// once for all of as many.
std::vector<std::optional<Interval>> interquartile_intervals(std::span<const std::span<const double>> samples,
                                                             double confidence = 0.95,
                                                             std::uint64_t resamples = 10'000);

} // namespace heed::statistics
