// Draws sketches (options/sketch.hpp) as SVG.
#pragma once

#include "options/sketch.hpp"

#include <string>
#include <vector>

namespace heed {

/// A picture with the panels beside each other, at most four in a row, on white paper, 340 pixels for each panel.
/// `description` is for readers who do not see it.
std::string svg_of(const std::vector<Sketch>& panels, const std::string& description);

} // namespace heed
