#include "experiments/statistics/bootstrap.hpp"

#include "autograd/rng.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace heed::statistics {

namespace {

constexpr std::uint64_t seed = 0x6865'6564'2062'6361; // for every bootstrap; its value is arbitrary

/// Calls `take(r, places)` for each resample; `places` are the indices of its values in the sample of n values.
/// @param samples  how many samples take it, for polls
template <class Take>
void each_resample(std::size_t n, std::uint64_t resamples, std::size_t samples, const Take& take) {
  std::vector<std::size_t> places(n);
  PolledWork work;
  for (std::uint64_t r = 0; r < resamples; ++r) {
    work.did(8 * n * samples);
    const RandomKey key{seed, Stream::sampling, r};
    for (std::size_t i = 0; i < n; ++i) places[i] = static_cast<std::size_t>(below(key, i, n));
    take(static_cast<std::size_t>(r), places);
  }
}

/// `without(i)`: the statistic of all values except value i.
/// @return 0 if leaving out any one value gives the same statistic
template <class Without> double acceleration(std::size_t n, const Without& without) {
  std::vector<double> left_out;
  PolledWork work;
  for (std::size_t i = 0; i < n; ++i) {
    work.did(2 * n);
    left_out.push_back(without(i));
  }
  const double centre = mean(left_out);
  double squares = 0, cubes = 0;
  for (const double x : left_out) {
    const double u = centre - x;
    squares += u * u;
    cubes += u * u * u;
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

/// @param resampled     the statistics of the resamples
/// @param acceleration  returns the acceleration
template <class Accelerated>
std::optional<Interval> interval_of(double observed, std::vector<double> resampled, const Accelerated& accelerated,
                                    double confidence) {
  std::sort(resampled.begin(), resampled.end());
  const auto [low, high] = std::equal_range(resampled.begin(), resampled.end(), observed);
  const double below = static_cast<double>((low - resampled.begin()) + (high - resampled.begin())) / 2;
  const double share = below / static_cast<double>(resampled.size());
  if (!(share > 0 && share < 1)) return std::nullopt;

  const double bias = normal_quantile(share), a = accelerated();
  auto end = [&](double z) {
    const double shifted = bias + z;
    return quantile_of_sorted(resampled, normal_below(bias + shifted / (1 - a * shifted)));
  };
  const double z = normal_quantile((1 + confidence) / 2);
  return Interval{end(-z), end(z)};
}

bool are_all_alike(std::span<const double> values) {
  return std::equal(values.begin() + 1, values.end(), values.begin());
}

/// A sorted sample. Its resamples are sorted by counting, because sorting each of them would dominate the run time.
class SortedSample {
public:
  explicit SortedSample(std::span<const double> values)
      : sorted_(values.begin(), values.end()), rank_(values.size()), counts_(values.size()), some_(values.size()) {
    std::vector<std::uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return values[i]; });
    for (std::uint32_t r = 0; r < order.size(); ++r) {
      rank_[order[r]] = r;
      sorted_[r] = values[order[r]];
    }
  }

  /// The interquartile mean of the values at these indices, which may repeat.
  double interquartile_mean_of(const std::vector<std::size_t>& places) {
    std::ranges::fill(counts_, std::uint32_t{0});
    for (const std::size_t place : places) ++counts_[rank_[place]];
    double* to = some_.data();
    for (std::size_t r = 0; r < sorted_.size(); ++r) to = std::fill_n(to, counts_[r], sorted_[r]);
    return interquartile_mean_of_sorted(some_);
  }

  /// The interquartile mean of all values except the one at this index.
  double interquartile_mean_without(std::size_t place) {
    const auto rest = std::copy_n(sorted_.begin(), rank_[place], some_.begin());
    std::copy(sorted_.begin() + rank_[place] + 1, sorted_.end(), rest);
    return interquartile_mean_of_sorted(std::span(some_).first(some_.size() - 1));
  }

  double interquartile_mean() const { return interquartile_mean_of_sorted(sorted_); }

private:
  std::vector<double> sorted_;
  std::vector<std::uint32_t> rank_, counts_; ///< rank_: rank of the value at an index
  std::vector<double> some_;
};

/// This number of samples shares one pass over the draws; more would need too much memory.
constexpr std::size_t most_samples_together = 64;

} // namespace

double quantile_of_sorted(std::span<const double> sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<Interval> bca_interval(std::span<const double> values, const Statistic& statistic, double confidence,
                                     std::uint64_t resamples) {
  check_confidence(confidence);
  if (values.size() < 3) return std::nullopt;
  const double observed = statistic(values);
  if (are_all_alike(values)) return Interval{observed, observed};

  std::vector<double> drawn(values.size()), resampled(resamples);
  each_resample(values.size(), resamples, 1, [&](std::size_t r, const std::vector<std::size_t>& places) {
    std::ranges::transform(places, drawn.begin(), [&](std::size_t place) { return values[place]; });
    resampled[r] = statistic(drawn);
  });
  std::vector<double> rest(values.begin() + 1, values.end()); // all values except value i
  const auto without = [&](std::size_t i) {
    if (i > 0) rest[i - 1] = values[i - 1];
    return statistic(rest);
  };
  return interval_of(
      observed, std::move(resampled), [&] { return acceleration(values.size(), without); }, confidence);
}

std::vector<std::optional<Interval>> interquartile_intervals(std::span<const std::span<const double>> samples,
                                                             double confidence, std::uint64_t resamples) {
  check_confidence(confidence);
  std::vector<std::optional<Interval>> out(samples.size());
  std::map<std::size_t, std::vector<std::size_t>> by_size; // samples that need resampling
  for (std::size_t s = 0; s < samples.size(); ++s) {
    if (samples[s].size() < 3) continue;
    const double observed = interquartile_mean(samples[s]);
    if (are_all_alike(samples[s])) out[s] = Interval{observed, observed};
    else by_size[samples[s].size()].push_back(s);
  }
  for (const auto& [n, all] : by_size)
    for (std::size_t first = 0; first < all.size(); first += most_samples_together) {
      const auto of_size = std::span(all).subspan(first, std::min(most_samples_together, all.size() - first));
      std::vector<SortedSample> sorted;
      for (const std::size_t s : of_size) sorted.emplace_back(samples[s]);
      std::vector<std::vector<double>> resampled(of_size.size(), std::vector<double>(resamples));
      each_resample(n, resamples, sorted.size(), [&](std::size_t r, const std::vector<std::size_t>& places) {
        for (std::size_t i = 0; i < sorted.size(); ++i) resampled[i][r] = sorted[i].interquartile_mean_of(places);
      });
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto without = [&](std::size_t place) { return sorted[i].interquartile_mean_without(place); };
        out[of_size[i]] = interval_of(
            sorted[i].interquartile_mean(), std::move(resampled[i]), [&, n = n] { return acceleration(n, without); },
            confidence);
      }
    }
  return out;
}

} // namespace heed::statistics
