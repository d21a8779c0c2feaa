// The figures of a report, for all media, and the ticks of their axes.
#pragma once

#include "experiments/report/document.hpp"
#include "experiments/report/report_data.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace heed {

/// The differences from the references; then, for each group, learning curves, and metrics by length. What has no
/// values is missing.
/// @param every  lines have every n-th of their points, and the last (curves.hpp)
std::vector<document::Figure> report_figures(const ReportData& report, std::size_t every = 1);

/// The figure with this name. Throws heed::Refused, with the names of all figures, if there is none.
const document::Figure& figure_named(const std::vector<document::Figure>& figures, const std::string& name);

/// The figure with all of its series within its axis.
document::Figure uncut(document::Figure figure);

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
