// Draws figures of a report as SVG.
#pragma once

#include "experiments/report/document.hpp"

#include <string>

namespace heed {

/// The figure as a picture of its own. Colours are those of the report's page, on light or dark paper.
std::string svg_figure(const document::Figure& figure, bool dark = false);

} // namespace heed
