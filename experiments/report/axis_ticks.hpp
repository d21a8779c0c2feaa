// Ticks of an axis, and the texts beside them.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct Ticks {
  std::vector<double> places;
  std::vector<std::string> labels;
  int power = 0; ///< labels must be multiplied by ten to this power; not 0 if plain labels would only be zeros
};

/// About `most` / 3 to `most` + 1 ticks from `low` to `high`, spaced by 1, 2 or 5 times a power of ten, with the fewest
/// decimals that distinguish them.
Ticks ticks_between(double low, double high, int most = 8);

/// About as many or fewer for a logarithmic axis: 1 to 9, or 1, 2 and 5, or 1, times powers of ten. Those of
/// `ticks_between` where fewer than three of them lie within it.
Ticks logarithmic_ticks(double low, double high, int most = 8);

} // namespace heed
