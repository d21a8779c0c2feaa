#include "experiments/report/axis_ticks.hpp"

#include "experiments/report/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>

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

Ticks logarithmic_ticks(double low, double high, int most) {
  Ticks ticks;
  const int first = static_cast<int>(std::floor(std::log10(low))),
            last = static_cast<int>(std::floor(std::log10(high)));
  const auto fill = [&](std::initializer_list<int> digits, int apart) {
    ticks = {};
    for (int power = first; power <= last; power += apart)
      for (const int digit : digits)
        if (const double place = digit * std::pow(10, power); place >= low && place <= high)
          ticks.places.push_back(place), ticks.labels.push_back(fmt::format("{:g}", place));
    return ticks.places.size();
  };
  if (fill({1, 2, 3, 4, 5, 6, 7, 8, 9}, 1) < 3) return ticks_between(low, high, most);
  const auto too_many = [&] { return std::ssize(ticks.places) > most + 1; };
  if (too_many()) fill({1, 2, 5}, 1);
  for (int apart = 1; too_many(); ++apart) fill({1}, apart);
  return ticks;
}

} // namespace heed
