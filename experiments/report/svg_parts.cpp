#include "experiments/report/svg_parts.hpp"

#include <cmath>
#include <fmt/format.h>

namespace heed {

namespace {

// What all pictures begin with, before and after their size and description.
constexpr std::string_view picture_begin = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"";
constexpr std::string_view picture_style = "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#";

} // namespace

std::string svg_begin(double width, double height, const std::string& description, std::string_view ink,
                      std::string_view paper) {
  return fmt::format("{3}{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}{4}{5}\">\n"
                     "<rect width=\"{0}\" height=\"{1}\" fill=\"{6}\"/>\n",
                     width, height, svg_text(description), picture_begin, picture_style, ink.substr(1), paper);
}

bool is_picture_of_heed(std::string_view beginning) {
  return beginning.starts_with(picture_begin) && beginning.find(picture_style) != std::string_view::npos;
}

std::string svg_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

// The small term keeps rounding of exact halves the same on all CPUs.
double svg_at(double x) { return std::round(10 * x + 1e-3) / 10; }

} // namespace heed
