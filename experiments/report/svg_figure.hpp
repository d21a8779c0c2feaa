// Draws figures of a report as SVG.
#pragma once

#include "experiments/report/document.hpp"

#include <cstddef>
#include <string>

namespace heed {

/// The figure as a picture of its own. Colours are those of the report's page, on light or dark paper.
std::string svg_figure(const document::Figure& figure, bool dark = false);

/// The figure's pictures for the report's page, whose colours have the names of its style: for wide and narrow pages;
/// lines above 0 with a linear and a logarithmic axis; and if something is outside, also with all within the axis.
/// Rows, lines and bands name their series by its place (data-series); the page finds pictures by `place`, the figure's
/// among all (data-figure).
std::string page_pictures(const document::Figure& figure, std::size_t place);

} // namespace heed
