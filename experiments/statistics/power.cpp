#include "experiments/statistics/power.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed::statistics {

namespace {

constexpr std::size_t most_seeds = 10'000'000;

void check_fraction(double value, const char* what) {
  if (!(value > 0 && value < 1)) throw Failed(fmt::format("[statistics] a {} lies between 0 and 1: {}", what, value));
}

} // namespace

double smallest_p(std::size_t pairs) {
  return pairs == 0 ? 1.0 : std::ldexp(1.0, 1 - static_cast<int>(std::min<std::size_t>(pairs, 1000)));
}

std::size_t seeds_for_level(double level) {
  check_fraction(level, "level");
  std::size_t n = 1;
  while (smallest_p(n) > level) ++n;
  return n;
}

double paired_power(double effect_size, std::size_t pairs, double level) {
  check_fraction(level, "level");
  if (pairs < 2) return 0;
  const double n = static_cast<double>(pairs), shift = std::abs(effect_size) * std::sqrt(n);
  const double t = student_quantile(n - 1, 1 - level / 2);
  // Beyond this, both tails are 1 and 0 in double, and the series are asked for what they can't give.
  if (shift > 30 && shift > 3 * t) return 1;
  return noncentral_above(n - 1, shift, t) + noncentral_below(n - 1, shift, -t);
}

std::size_t seeds_for_effect(double effect_size, double power, double level, std::size_t arms) {
  check_fraction(power, "power");
  const double effect = std::abs(effect_size);
  if (!(effect > 0 && std::isfinite(effect)))
    throw Failed(fmt::format("[statistics] an effect is a number other than 0: {}", effect_size));
  const double each = level / static_cast<double>(std::max<std::size_t>(arms, 1));
  const std::size_t fewest = seeds_for_level(level);
  auto enough = [&](std::size_t n) { return paired_power(effect, n, each) >= power; };

  std::size_t high = fewest;
  while (!enough(high)) {
    if (high > most_seeds)
      throw Failed(fmt::format("[statistics] an effect of {} standard deviations takes more than {} seeds", effect_size,
                               most_seeds));
    high *= 2;
  }
  for (std::size_t low = high / 2; high > fewest && high - low > 1;) { // enough(high), and not enough(low)
    const std::size_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  if (high == fewest) { // flips need a little more than the t test here
    const double n = static_cast<double>(fewest);
    const double one_sign = std::pow(normal_below(effect), n) + std::pow(normal_below(-effect), n);
    const bool barely = paired_power(effect, fewest - 1, each) < power;
    if (one_sign < power || barely) ++high;
  }
  return high;
}

} // namespace heed::statistics
