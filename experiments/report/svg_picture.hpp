// Draws figures of a report as SVG. Parts of which these pictures are made: colours, symbols, texts in lines, axes,
// coordinates.
#pragma once

#include "experiments/report/document.hpp"
#include "experiments/report/figures.hpp"

#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::svg {

/// The colours of report.css.
struct Palette {
  std::string_view paper, ink, soft, hair, better, worse, same, open, band;
  std::array<std::string_view, 7> lines; ///< first the reference's
};
extern const Palette light, night;
extern const Palette named; ///< their names in report.css, which has them for light, dark and printed pages

/// What a picture is drawn for.
struct Medium {
  const Palette& palette;
  double width = 0;         ///< of a page's picture; 0: a file of its own, as wide as its parts, with a legend
  bool narrow = false;      ///< names stand above their rows
  bool logarithmic = false; ///< the axis of values of lines
  std::string name{};       ///< which of the pictures of its figure it is: "narrow linear most"
  std::size_t place = 0;    ///< the figure's, on the page
  bool is_file() const { return width == 0; }
  double edge() const { return is_file() ? 12 : 0; }
};

/// A place on the picture for each value of an axis.
struct Scale {
  double low, high, from, to;
  bool logarithmic = false;
  double operator()(double value) const;
};

/// About as wide as a text is drawn.
inline constexpr double letter = 6.5;
double width_of(const std::string& text);
/// A name in lines of at most `room`, the first at most `first`. "name = value" stays on a line that has room for it.
std::vector<std::string> lines_of(const std::string& name, double first, double room);
/// The text of a number with minus signs.
std::string number_text(const std::string& text);
/// About as many ticks or fewer, so that their numbers do not touch.
Ticks ticks_with_room(const Scale& x, int most);
/// The label of an axis, with the power of ten that its ticks leave out.
std::string label_of(const document::Axis& axis, int power);

enum class Symbol { circle, square, triangle, diamond, cross, star, wye };

/// How the answer of a row is shown: by shape as well as by colour.
struct Mark {
  std::string_view colour;
  Symbol symbol;
  bool hollow = false;
};
Mark mark_of(AnswerWord answer, const Palette& palette);

/// The colour, dashes and symbol of a line. Six colours and seven symbols make 42 pairs, since 6 and 7 have no common
/// factor.
struct Look {
  std::string_view colour, dash;
  Symbol symbol;
};
Look look_of(const document::Series& series, const Palette& palette);

using Place = std::pair<double, double>; ///< x, y

/// Paths: a line at x, and one at y.
std::string upright(double x, double from, double to);
std::string level(double y, double from, double to);

class Picture {
public:
  explicit Picture(const Medium& medium) : medium_(medium), palette_(medium.palette) {}

  template <class... Values> void add(fmt::format_string<Values...> format, Values&&... values) {
    content_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
  }
  void text(double x, double y, std::string_view anchor, const std::string& what, std::string_view colour,
            std::string_view more = "");
  void symbols(const std::vector<Place>& places, Symbol symbol, std::string_view colour, bool hollow = false);
  /// A line along a path.
  void stroke(const std::string& path, std::string_view colour, double width, std::string_view dash = "");
  /// The numbers of an axis below a plot, those that have room, and its label.
  void axis_below(const Scale& x, const document::Axis& axis, const Ticks& ticks, double floor);
  /// What a pointer on the page meets.
  void hit(double x, double y, double width, double height);
  std::string whole(double width, double height, const document::Figure& figure) const;

private:
  const Medium& medium_;
  const Palette& palette_;
  std::string content_;
};

} // namespace heed::svg

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

/// The figure as a picture of its own. Colours are those of the report's page, on light or dark paper.
std::string svg_figure(const document::Figure& figure, bool dark = false);

/// The figure's pictures for the report's page, whose colours have the names of its style: for wide and narrow pages;
/// lines above 0 with a linear and a logarithmic axis; and if something is outside, also with all within the axis.
/// Rows, lines and bands name their series by its place (data-series); the page finds pictures by `place`, the figure's
/// among all (data-figure).
std::string page_pictures(const document::Figure& figure, std::size_t place);

} // namespace heed
