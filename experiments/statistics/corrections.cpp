#include "experiments/statistics/corrections.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <numbers>
#include <numeric>

namespace heed::statistics {

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> corrected(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    corrected[order[i]] = largest;
  }
  return corrected;
}

std::vector<double> look_levels(std::span<const std::size_t> looks, double level) {
  if (!(level > 0 && level < 1)) throw Failed(fmt::format("[statistics] a level lies between 0 and 1: {}", level));
  std::vector<double> out;
  std::size_t before = 0;
  double spent = 0;
  for (const std::size_t n : looks) {
    if (n <= before) throw Failed(fmt::format("[statistics] looks rise: {} comes after {}", n, before));
    const double t = static_cast<double>(n) / static_cast<double>(looks.back());
    const double until = level * std::log1p((std::numbers::e - 1) * t);
    out.push_back(until - spent);
    spent = until;
    before = n;
  }
  return out;
}

std::vector<bool> that_reach(const std::vector<double>& smallest, double level) {
  std::vector<double> sorted = smallest;
  std::ranges::sort(sorted);
  const auto that_do = [&](std::size_t k) {
    return static_cast<std::size_t>(std::ranges::upper_bound(sorted, level / static_cast<double>(k)) - sorted.begin());
  };
  std::size_t k = 1;
  while (that_do(k) > k) ++k;
  std::vector<bool> out(smallest.size());
  for (std::size_t i = 0; i < smallest.size(); ++i) out[i] = smallest[i] <= level / static_cast<double>(k);
  return out;
}

std::vector<double> corrected(const std::vector<double>& p, const std::vector<bool>& reach) {
  std::vector<double> some;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (reach[i]) some.push_back(p[i]);
  some = holm(some);
  std::vector<double> out;
  for (std::size_t i = 0, next = 0; i < p.size(); ++i)
    out.push_back(reach[i] ? some[next++] : std::min(1.0, p[i] * static_cast<double>(p.size())));
  return out;
}

} // namespace heed::statistics
