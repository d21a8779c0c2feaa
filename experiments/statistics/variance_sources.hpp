// Where the variance of a result comes from: initial weights, order of data, dropout, data split. Runs in which one
// source varies while the others are fixed measure it (Bouthillier et al. 2021, arXiv 2103.03098).
#pragma once

#include "experiments/statistics/summary.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

/// The values of the runs in which one source varies: a list for each fixing of the other sources.
using SourceValues = std::vector<std::vector<double>>;

/// What one source contributes. With v_fi its values in fixing f, of which there are n_f:
/// s^2 = sum_f sum_i (v_fi - mean_f)^2 / d, with d = sum_f (n_f - 1) degrees of freedom.
struct SourceVariance {
  std::size_t freedom = 0;                  ///< d; 0: no fixing has two values
  std::optional<double> standard_deviation; ///< s; empty without degrees of freedom
  /// 95 %: s sqrt(d / chi2), with the quantiles 97.5 % and 2.5 % of the chi-squared distribution with d degrees of
  /// freedom. Exact if the values are normal. Empty for a source without effect.
  std::optional<Interval> interval;
  /// s^2 divided by the sum of all sources' s^2. Empty for a source without effect, if only one source varies, and if
  /// the s of any source is unknown.
  std::optional<double> share;
  std::optional<Interval> share_interval; ///< 95 %; also empty if no other source has an effect
  /// Whether it has no effect: all values of each fixing are equal up to rounding. s is then 0.
  bool is_without_effect() const { return standard_deviation == 0.0; }
};

struct VarianceSources {
  std::vector<SourceVariance> sources; ///< in the order of the values
  /// sqrt of the sum of all sources' s^2, with its 95 % interval: the spread of runs in which all of them vary, if the
  /// effects of the sources add up. Empty if the s of any source is unknown; no interval if it is 0.
  std::optional<double> whole;
  std::optional<Interval> whole_interval;
};

/// Pools each source over its fixings.
///
/// Intervals of shares: of two sources, that of the F distribution, which is exact. Of more, a generalised confidence
/// interval (Weerahandi 1993, Journal of the American Statistical Association 88): quantiles over 20,000 draws of
/// s_j^2 d_j / W_j, with W_j from the chi-squared distribution with d_j degrees of freedom. The draws are always the
/// same.
///
/// Interval of the whole's variance S = sum s_j^2 (Graybill and Wang 1980, Journal of the American Statistical
/// Association 75): S - sqrt(sum (s_j^2 - l_j)^2) to S + sqrt(sum (u_j - s_j^2)^2), where l_j and u_j are the ends of
/// source j's own interval.
/// @param rounding  values of a fixing that differ by at most this part of the largest are equal
VarianceSources variance_sources(std::span<const SourceValues> values, double rounding = 0);

/// The 95 % interval of a standard deviation with `freedom` degrees of freedom (see SourceVariance::interval).
Interval interval_of_spread(double standard_deviation, std::size_t freedom);

} // namespace heed::statistics
