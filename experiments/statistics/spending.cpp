#include "experiments/statistics/spending.hpp"

#include "autograd/error.hpp"

#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace heed::statistics {

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

} // namespace heed::statistics
