#include "experiments/report/latex_ticks.hpp"

#include "experiments/report/latex_parts.hpp"
#include "experiments/report/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed {

Ticks ticks_between(double low, double high) {
  constexpr int most_decimals = 4;
  const double least = (high - low) / 8;
  int power = static_cast<int>(std::floor(std::log10(least) + 1e-9));
  int step = 1; // in units of ten to the power `power`
  for (const int larger : {2, 5, 10})
    if (step * std::pow(10, power) < least * (1 - 1e-9)) step = larger;
  if (step == 10) {
    step = 1;
    ++power;
  }
  Ticks ticks;
  if (power < -most_decimals) ticks.power = static_cast<int>(std::floor(std::log10(std::max(-low, high))));
  const double apart = step * std::pow(10, power);
  const int decimals = std::max(0, ticks.power - power);
  for (auto i = std::ceil(low / apart - 1e-9); i <= std::floor(high / apart + 1e-9); ++i) {
    const char* comma = ticks.places.empty() ? "" : ",";
    ticks.places += fmt::format("{}{:.12g}", comma, i * apart + 0.0);
    ticks.labels += fmt::format("{}{{{}}}", comma,
                                latex_maths(fixed(i * apart * std::pow(10, -ticks.power), decimals)));
  }
  return ticks;
}

std::string times_power(const Ticks& ticks) {
  return ticks.power == 0 ? "" : fmt::format(", times $10^{{{}}}$", ticks.power);
}

} // namespace heed
