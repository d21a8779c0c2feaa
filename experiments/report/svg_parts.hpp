// Parts of SVG pictures: their beginning, escaped texts, coordinates.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// The begin of a picture: the root element, and its background. "</svg>\n" ends the picture.
/// @param description  for readers who do not see it
std::string svg_begin(double width, double height, const std::string& description, std::string_view ink = "#1d1f23",
                      std::string_view paper = "#fff");

/// Whether a file with this beginning is a picture of Heed's, which can be made again.
bool is_picture_of_heed(std::string_view beginning);

/// A text between elements, or within an attribute.
std::string svg_text(std::string_view text);

/// A coordinate, rounded to a tenth.
double svg_at(double x);

} // namespace heed
