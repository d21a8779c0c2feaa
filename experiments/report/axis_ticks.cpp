#include "experiments/report/axis_ticks.hpp"

#include "experiments/report/numbers.hpp"

#include <algorithm>
#include <cmath>

namespace heed {

Ticks ticks_between(double low, double high, int most) {
  constexpr int most_decimals = 4;
  const double least = (high - low) / most;
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
    ticks.places.push_back(i * apart + 0.0);
    ticks.labels.push_back(fixed(i * apart * std::pow(10, -ticks.power), decimals));
  }
  return ticks;
}

} // namespace heed
