#include "experiments/statistics/bootstrap.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace heed::statistics {

namespace {

constexpr std::uint64_t seed = 0x6865'6564'2062'6361; // of every bootstrap; nothing depends on its value

std::vector<double> resampled(std::span<const double> values, const Statistic& statistic, std::uint64_t resamples) {
  std::vector<double> drawn(values.size()), out(resamples);
  for (std::uint64_t r = 0; r < resamples; ++r) {
    const RandomKey key{seed, Stream::sampling, r};
    for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] = values[below(key, i, values.size())];
    out[r] = statistic(drawn);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// 0 where leaving out any one value gives the same.
double acceleration(std::span<const double> values, const Statistic& statistic) {
  std::vector<double> without(values.begin() + 1, values.end()), left_out;
  left_out.push_back(statistic(without));
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    without[i] = values[i];
    left_out.push_back(statistic(without));
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

/// Between neighbours linearly, as NumPy's quantile.
double quantile(const std::vector<double>& sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

} // namespace

std::optional<Interval> bca_interval(std::span<const double> values, const Statistic& statistic, double confidence,
                                     std::uint64_t resamples) {
  if (!(confidence > 0 && confidence < 1))
    throw Failed(fmt::format("[statistics] a confidence lies between 0 and 1: {}", confidence));
  if (values.size() < 3) return std::nullopt;
  const double observed = statistic(values);
  if (std::equal(values.begin() + 1, values.end(), values.begin())) return Interval{observed, observed};

  const std::vector<double> sorted = resampled(values, statistic, resamples);
  const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), observed);
  const double below = static_cast<double>((low - sorted.begin()) + (high - sorted.begin())) / 2;
  const double share = below / static_cast<double>(sorted.size());
  if (!(share > 0 && share < 1)) return std::nullopt;

  const double bias = normal_quantile(share), a = acceleration(values, statistic);
  auto end = [&](double z) {
    const double shifted = bias + z;
    return quantile(sorted, normal_below(bias + shifted / (1 - a * shifted)));
  };
  const double z = normal_quantile((1 + confidence) / 2);
  return Interval{end(-z), end(z)};
}

} // namespace heed::statistics
