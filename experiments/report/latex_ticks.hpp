// Computes axis ticks for pgfplots.
#pragma once

#include <string>

namespace heed {

/// Positions of ticks and their labels. Both are passed to pgfplots, because its own labels may round neighbouring
/// ticks to the same number.
struct Ticks {
  std::string places, labels;
  int power = 0; ///< labels must be multiplied by ten to this power; not 0 if plain labels would only be zeros
};

/// 3 to 9 ticks from `low` to `high`, spaced by 1, 2 or 5 times a power of ten, with the fewest decimals that
/// distinguish them.
Ticks ticks_between(double low, double high);

/// ", times $10^{-8}$" if labels must be multiplied by it; otherwise empty.
std::string times_power(const Ticks& ticks);

} // namespace heed
