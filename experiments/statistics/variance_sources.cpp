#include "experiments/statistics/variance_sources.hpp"

#include "autograd/rng.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

namespace heed::statistics {

namespace {

constexpr std::uint64_t seed = 0x7661'7269'616e'6365; // for all draws; its value is arbitrary
constexpr std::size_t draws = 20'000;
constexpr double tail = 0.025; // of an interval of 95 %, on each side

/// The chi-squared distribution's quantiles in the middles of `draws` equally likely parts. The last few numbers of
/// degrees of freedom are kept, because a report asks for one or two again and again.
const std::vector<double>& strata(std::size_t freedom) {
  constexpr std::size_t most_kept = 16;
  thread_local std::map<std::size_t, std::vector<double>> known;
  if (!known.contains(freedom) && known.size() >= most_kept) known.clear();
  std::vector<double>& out = known[freedom];
  PolledWork work;
  for (std::size_t i = out.size(); i < draws; ++i) {
    work.did(1000);
    out.push_back(chi_squared_quantile(static_cast<double>(freedom),
                                       (static_cast<double>(i) + 0.5) / static_cast<double>(draws)));
  }
  return out;
}

/// The places of the draws of a source among the strata: a random order (a Latin hypercube).
const std::vector<std::uint32_t>& order_of(std::size_t source) {
  thread_local std::map<std::size_t, std::vector<std::uint32_t>> known;
  std::vector<std::uint32_t>& out = known[source];
  if (!out.empty()) return out;
  out.resize(draws);
  std::iota(out.begin(), out.end(), 0U);
  RandomSource random({seed, Stream::sampling, source});
  for (std::size_t i = draws; i > 1; --i) std::swap(out[i - 1], out[random.below(i)]);
  return out;
}

/// The interval between the quantiles of the draws.
Interval middle(std::vector<double>& drawn) {
  const auto place = static_cast<std::ptrdiff_t>(tail * static_cast<double>(draws));
  const auto low = drawn.begin() + place, high = drawn.end() - 1 - place;
  std::nth_element(drawn.begin(), low, drawn.end());
  const double least = *low;
  std::nth_element(low, high, drawn.end());
  return {least, *high};
}

/// Whether the values differ only by rounding.
bool are_equal(const std::vector<double>& values, double rounding) {
  const auto [least, greatest] = std::ranges::minmax(values);
  return greatest - least <= rounding * largest_size(values);
}

SourceVariance pooled(const SourceValues& fixings, double rounding) {
  SourceVariance out;
  double squares = 0;
  bool varies = false;
  for (const std::vector<double>& values : fixings) {
    if (values.size() < 2) continue;
    out.freedom += values.size() - 1;
    varies = varies || !are_equal(values, rounding);
    const double s = standard_deviation(values).value_or(0);
    squares += s * s * static_cast<double>(values.size() - 1);
  }
  if (out.freedom == 0) return out;
  out.standard_deviation = varies ? std::sqrt(squares / static_cast<double>(out.freedom)) : 0;
  if (varies) out.interval = interval_of_spread(*out.standard_deviation, out.freedom);
  return out;
}

/// The F distribution's quantile, by that of the beta distribution.
double f_quantile(std::size_t above, std::size_t below, double p) {
  const auto a = static_cast<double>(above), b = static_cast<double>(below);
  const double x = beta_quantile(a / 2, b / 2, p);
  return x * b / ((1 - x) * a);
}

/// The interval of the first's share of two sources: exact, since the ratio of the two s^2, divided by that of the true
/// variances, has an F distribution.
Interval of_two(const SourceVariance& first, const SourceVariance& second) {
  const double ratio = *first.share / *second.share;
  const auto share = [&](double f) { return ratio / (ratio + f); };
  return {share(f_quantile(first.freedom, second.freedom, 1 - tail)),
          share(f_quantile(first.freedom, second.freedom, tail))};
}

/// The whole's interval: by the distances of each variance from the ends of its own interval.
Interval of_whole(const VarianceSources& of, const std::vector<std::size_t>& effective) {
  double below = 0, above = 0; // in units of the whole's variance
  for (const std::size_t i : effective) {
    const SourceVariance& source = of.sources[i];
    const auto d = static_cast<double>(source.freedom);
    const double down = 1 - d / chi_squared_quantile(d, 1 - tail), up = d / chi_squared_quantile(d, tail) - 1;
    below = std::hypot(below, down * *source.share);
    above = std::hypot(above, up * *source.share);
  }
  return {*of.whole * std::sqrt(1 - below), *of.whole * std::sqrt(1 + above)};
}

/// The intervals of the shares of those sources that have an effect, of which there are two or more.
void add_intervals(VarianceSources& out, const std::vector<std::size_t>& effective) {
  if (effective.size() == 2) {
    SourceVariance &first = out.sources[effective[0]], &second = out.sources[effective[1]];
    first.share_interval = of_two(first, second);
    second.share_interval = of_two(second, first);
    return;
  }
  std::vector<std::vector<double>> parts; // of each source: its variance in each draw
  std::vector<double> sums(draws);
  for (const std::size_t i : effective) {
    const SourceVariance& source = out.sources[i];
    const double share = *source.share; // in place of s^2, which could be too small for its square
    const std::vector<double>& quantiles = strata(source.freedom);
    const std::vector<std::uint32_t>& order = order_of(parts.size());
    std::vector<double>& part = parts.emplace_back(draws);
    for (std::size_t m = 0; m < draws; ++m) {
      part[m] = share * static_cast<double>(source.freedom) / quantiles[order[m]];
      sums[m] += part[m];
    }
  }
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::size_t m = 0; m < draws; ++m) parts[p][m] /= sums[m];
    out.sources[effective[p]].share_interval = middle(parts[p]);
  }
}

} // namespace

Interval interval_of_spread(double standard_deviation, std::size_t freedom) {
  const auto d = static_cast<double>(freedom);
  return {standard_deviation * std::sqrt(d / chi_squared_quantile(d, 1 - tail)),
          standard_deviation * std::sqrt(d / chi_squared_quantile(d, tail))};
}

VarianceSources variance_sources(std::span<const SourceValues> values, double rounding) {
  VarianceSources out;
  std::vector<std::size_t> effective;
  for (const SourceValues& fixings : values) {
    out.sources.push_back(pooled(fixings, rounding));
    if (out.sources.back().interval) effective.push_back(out.sources.size() - 1);
  }
  const auto is_known = [](const SourceVariance& source) { return source.standard_deviation.has_value(); };
  if (out.sources.empty() || !std::ranges::all_of(out.sources, is_known)) return out;
  out.whole = 0;
  for (const std::size_t i : effective) out.whole = std::hypot(*out.whole, *out.sources[i].standard_deviation);
  if (effective.empty()) return out;
  for (const std::size_t i : effective) {
    const double part = *out.sources[i].standard_deviation / *out.whole;
    out.sources[i].share = part * part;
  }
  out.whole_interval = of_whole(out, effective);
  if (effective.size() > 1) add_intervals(out, effective);
  if (out.sources.size() == 1) out.sources.front().share.reset();
  return out;
}

} // namespace heed::statistics
