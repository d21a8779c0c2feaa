// The figures of a report, for all media.
#pragma once

#include "experiments/report/document.hpp"
#include "experiments/report/report_data.hpp"

#include <cstddef>
#include <vector>

namespace heed {

/// The differences from the references; then, for each group, learning curves, and metrics by length. What has no
/// values is missing.
/// @param every  lines have every n-th of their points, and the last (thinning.hpp)
std::vector<document::Figure> report_figures(const ReportData& report, std::size_t every = 1);

/// The figure with all of its series within its axis.
document::Figure uncut(document::Figure figure);

} // namespace heed
