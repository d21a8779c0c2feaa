// Ticks of pgfplots' axes.
#pragma once

#include <string>

namespace heed {

/// Places of ticks and their labels. Both are given to pgfplots, whose own labels may round neighbours to one number.
struct Ticks {
  std::string places, labels;
  int power = 0; ///< labels are to be taken times ten to this; not 0 where they would be nothing but zeros
};

/// 3 to 9 ticks from `low` to `high`, 1, 2 or 5 times a power of ten apart, with as few decimals as tell them apart.
Ticks ticks_between(double low, double high);

/// ", times $10^{-8}$", where labels are to be taken times that.
std::string times_power(const Ticks& ticks);

} // namespace heed
