#include "experiments/report/svg_figure.hpp"

#include "experiments/report/axis_ticks.hpp"
#include "experiments/report/svg_parts.hpp"
#include "experiments/report/text_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace heed {

namespace {

using document::Figure;
using document::Point;
using document::Series;

/// The colours of report.css.
struct Palette {
  std::string_view paper, ink, soft, hair, better, worse, same, open, band;
  std::array<std::string_view, 7> lines; ///< first the reference's
};
constexpr Palette light{"#fdfcf9", "#1d1f23",
                        "#5c6068", "#eceae4",
                        "#0067a8", "#bf4a00",
                        "#00735a", "#6d7078",
                        "#00735a", {"#1d1f23", "#0072b2", "#d55e00", "#009e73", "#b3588f", "#c98500", "#3a9bd5"}};
constexpr Palette night{"#15171b", "#e6e3dc",
                        "#a9abb0", "#272a30",
                        "#62b5f0", "#ff9050",
                        "#3fc7a0", "#9da0a7",
                        "#3fc7a0", {"#e6e3dc", "#4ea8e6", "#ff8b45", "#2fc49a", "#dd94bf", "#e8ad35", "#93d0f7"}};

/// The text of a number with minus signs.
std::string number_text(const std::string& text) {
  std::string out;
  for (const char c : text) c == '-' ? out += "\u2212" : out += c;
  return out;
}

/// About as wide as the text is drawn.
double width_of(const std::string& text) { return 6.7 * static_cast<double>(display_width(text)); }

/// The longest text of a picture is cut, so that the plot keeps its room.
constexpr std::size_t longest_text = 44;

enum class Symbol { circle, square, triangle, diamond, cross, star, wye };

/// The outline of a symbol around (0, 0), of about the same area as the others.
std::string outline(Symbol symbol) {
  switch (symbol) {
    case Symbol::circle: return "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z";
    case Symbol::square: return "M-4-4h8v8h-8z";
    case Symbol::triangle: return "M0-5.6L4.9 2.9h-9.8z";
    case Symbol::diamond: return "M0-6L4.6 0L0 6L-4.6 0z";
    case Symbol::cross: return "M-1.6-5h3.2v3.4h3.4v3.2h-3.4v3.4h-3.2v-3.4h-3.4v-3.2h3.4z";
    case Symbol::star: return "M0-6L1.4-1.9h4.3L2.2.7l1.3 4.2L0 2.3l-3.5 2.6 1.3-4.2-3.5-2.6h4.3z";
    case Symbol::wye: return "M-1.5-.9L-5-3l1.6-2.6L0-3.4l3.4-2.2L5-3 1.5-.9V5h-3z";
  }
  return "";
}

/// How the answer of a row is shown: by shape as well as by colour.
struct Mark {
  std::string_view colour;
  Symbol symbol;
  bool hollow = false;
};
Mark mark_of(AnswerWord answer, const Palette& palette) {
  switch (answer) {
    case AnswerWord::better:
    case AnswerWord::differs: return {palette.better, Symbol::triangle};
    case AnswerWord::worse: return {palette.worse, Symbol::square};
    case AnswerWord::same:
    case AnswerWord::equal: return {palette.same, Symbol::diamond};
    case AnswerWord::undecided:
    case AnswerWord::underpowered:
    case AnswerWord::none: break;
  }
  return {palette.open, Symbol::circle, true};
}

/// A place on the picture for each value of an axis.
struct Scale {
  double low, high, from, to;
  bool logarithmic = false;
  double operator()(double value) const {
    const auto on = [&](double x) { return logarithmic ? std::log(x) : x; };
    return from + (to - from) * (on(value) - on(low)) / (on(high) - on(low));
  }
};

class Picture {
public:
  explicit Picture(const Palette& palette) : palette_(palette) {}

  template <class... Values> void add(fmt::format_string<Values...> format, Values&&... values) {
    content_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
  }
  void text(double x, double y, std::string_view anchor, const std::string& what, std::string_view colour,
            std::string_view more = "") {
    add(R"(<text x="{}" y="{}" text-anchor="{}" fill="{}"{}{}>{}</text>)", svg_at(x), svg_at(y), anchor, colour,
        more.empty() ? "" : " ", more, svg_text(what));
  }
  void symbol(double x, double y, Symbol symbol, std::string_view colour, bool hollow = false) {
    add(R"svg(<path d="{}" transform="translate({} {})" fill="{}" stroke="{}" stroke-width="{}"/>)svg", outline(symbol),
        svg_at(x), svg_at(y), hollow ? palette_.paper : colour, hollow ? colour : palette_.paper, hollow ? "1.6" : "1");
  }
  void line(double x1, double y1, double x2, double y2, std::string_view colour, double width,
            std::string_view dash = "") {
    add(R"(<path d="M{} {}L{} {}" stroke="{}" stroke-width="{}"{} fill="none"/>)", svg_at(x1), svg_at(y1), svg_at(x2),
        svg_at(y2), colour, width, dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
  }
  /// The whole picture.
  std::string whole(double width, double height, const std::string& description) const {
    return svg_begin(std::ceil(width), std::ceil(height), description, palette_.ink, palette_.paper) + content_ +
           "</svg>\n";
  }

  const Palette& palette() const { return palette_; }

private:
  const Palette& palette_;
  std::string content_;
};

/// The label of an axis, with the power of ten that its ticks leave out.
std::string label_of(const document::Axis& axis, int power) {
  return power == 0 ? axis.label : fmt::format("{}, times 1e{:+03d}", axis.label, power);
}

std::string draw_differences(const Figure& figure, const Palette& palette) {
  constexpr double top = 12, row_height = 26, heading = 30, plot = 320, below = 50;
  Picture picture(palette);
  double names = 0, texts = 0, rows = top;
  std::vector<double> places; // of each row's middle
  std::string group;
  for (const Series& series : figure.series) {
    names = std::max(names, width_of(cut_to(series.name, longest_text)));
    texts = std::max(texts, width_of(series.text));
    if (!series.group.empty() && series.group != group) rows += heading;
    group = series.group;
    places.push_back(rows + row_height / 2);
    rows += row_height;
  }
  const double left = 12 + names + 14, right = left + plot, width = right + 14 + texts + 12;
  const Scale x{figure.x.low, figure.x.high, left, right};
  if (figure.margin)
    picture.add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}" fill-opacity=".13"/>)",
                svg_at(x(-*figure.margin)), top, svg_at(x(*figure.margin) - x(-*figure.margin)), svg_at(rows - top),
                palette.band);
  const Ticks ticks = ticks_between(figure.x.low, figure.x.high, 7);
  for (std::size_t i = 0; i < ticks.places.size(); ++i) {
    picture.line(x(ticks.places[i]), top, x(ticks.places[i]), rows, palette.hair, 1);
    picture.text(x(ticks.places[i]), rows + 17, "middle", number_text(ticks.labels[i]), palette.soft);
  }
  picture.line(x(0), top, x(0), rows, palette.ink, 1.2);
  picture.line(left, rows, right, rows, palette.soft, 1);
  picture.text((left + right) / 2, rows + 38, "middle", label_of(figure.x, ticks.power), palette.soft);
  group.clear();
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    const Point& point = series.points.front();
    const double y = places[i];
    const Mark mark = mark_of(series.mark, palette);
    if (!series.group.empty() && series.group != group)
      picture.text(12, y - row_height / 2 - 8, "start", series.group, palette.ink, "font-weight=\"600\"");
    group = series.group;
    picture.text(left - 14, y + 4, "end", cut_to(series.name, longest_text), palette.ink);
    picture.text(right + 14, y + 4, "start", number_text(series.text), palette.soft);
    if (series.outside) { // an arrowhead at the end of the axis
      const double end = point.value < 0 ? left : right, back = point.value < 0 ? 9 : -9;
      picture.add(R"(<path d="M{0} {1}l{2} -6v12z" fill="{3}"/>)", svg_at(end), svg_at(y), back, mark.colour);
      continue;
    }
    if (series.has_range) {
      picture.line(x(point.low), y, x(point.high), y, mark.colour, 1.6);
      for (const double end : {point.low, point.high}) picture.line(x(end), y - 4, x(end), y + 4, mark.colour, 1.6);
    }
    picture.symbol(x(point.value), y, mark.symbol, mark.colour, mark.hollow);
  }
  return picture.whole(width, rows + below, figure.caption);
}

/// The colour, dashes and symbol of a line. Six colours and seven symbols make 42 pairs, since 6 and 7 have no common
/// factor.
struct Look {
  std::string_view colour, dash;
  Symbol symbol;
};
Look look_of(const Series& series, const Palette& palette) {
  static constexpr std::array<std::string_view, 4> dashes{"", "7 3", "2 3", "8 3 2 3"};
  if (series.look == 0) return {palette.lines[0], "", Symbol::circle};
  const std::size_t place = series.look - 1;
  return {palette.lines[1 + place % 6], dashes[place / 6 % dashes.size()], static_cast<Symbol>(series.look % 7)};
}

std::string draw_lines(const Figure& figure, const Palette& palette) {
  constexpr double top = 16, left = 74, plot_width = 430, plot_height = 270, below = 52;
  constexpr double right = left + plot_width, floor = top + plot_height;
  Picture picture(palette);
  const double room = 0.03 * (figure.y.high - figure.y.low);
  const Scale x{figure.x.low, figure.x.high, left + 8, right - 8, figure.x.logarithmic},
      y{figure.y.low - room, figure.y.high + room, floor, top};
  const Ticks up = ticks_between(figure.y.low, figure.y.high, 6);
  for (std::size_t i = 0; i < up.places.size(); ++i) {
    picture.line(left, y(up.places[i]), right, y(up.places[i]), palette.hair, 1);
    picture.text(left - 8, y(up.places[i]) + 4, "end", number_text(up.labels[i]), palette.soft);
  }
  Ticks across = ticks_between(figure.x.low, figure.x.high, 6);
  if (!figure.x.ticks.empty()) {
    across = {figure.x.ticks, {}, 0};
    for (const double tick : figure.x.ticks) across.labels.push_back(fmt::format("{:g}", tick));
  }
  double free = left; // what the last text of a tick leaves
  for (std::size_t i = 0; i < across.places.size(); ++i) {
    const double at = x(across.places[i]), half = width_of(across.labels[i]) / 2;
    picture.line(at, floor, at, floor + 5, palette.soft, 1);
    if (at - half < free) continue;
    picture.text(at, floor + 19, "middle", across.labels[i], palette.soft);
    free = at + half + 6;
  }
  picture.line(left, floor, right, floor, palette.soft, 1);
  picture.text((left + right) / 2, floor + 40, "middle", label_of(figure.x, across.power), palette.soft);
  picture.add(R"svg(<text transform="translate(16 {}) rotate(-90)" text-anchor="middle" fill="{}">{}</text>)svg",
              svg_at(top + plot_height / 2), palette.soft, svg_text(label_of(figure.y, up.power)));
  if (figure.mark) {
    const bool before = x(*figure.mark) > (left + right) / 2;
    picture.line(x(*figure.mark), top, x(*figure.mark), floor, palette.soft, 1, "3 3");
    picture.text(x(*figure.mark) + (before ? -6 : 6), top + 11, before ? "end" : "start", "longest in training",
                 palette.soft);
  }
  // What is outside is drawn to where it leaves the plot.
  const double reach = figure.y.high - figure.y.low;
  const auto up_to = [&](double value) {
    return y(figure.is_cut ? std::clamp(value, figure.y.low - reach, figure.y.high + reach) : value);
  };
  const auto path = [&](const std::vector<Point>& points, double Point::*part, bool backwards, const char* begin) {
    std::string out;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Point& point = points[backwards ? points.size() - 1 - i : i];
      out += fmt::format("{}{} {}", out.empty() ? begin : "L", svg_at(x(point.at)), svg_at(up_to(point.*part)));
    }
    return out;
  };
  const auto shown = std::ranges::count_if(figure.series, [](const Series& series) { return !series.outside; });
  const double opacity = 0.16 / (1 + 0.35 * static_cast<double>(std::min<std::ptrdiff_t>(shown, 6) - 1));
  const std::string clip = "plot-" + figure.name;
  picture.add(R"(<clipPath id="{}"><rect x="{}" y="{}" width="{}" height="{}"/></clipPath>)", clip, left, top,
              plot_width, plot_height);
  picture.add(R"svg(<g clip-path="url(#{})">)svg", clip);
  for (const Series& series : figure.series)
    picture.add(R"(<path d="{}{}z" fill="{}" fill-opacity="{:.3f}"/>)", path(series.points, &Point::low, false, "M"),
                path(series.points, &Point::high, true, "L"), look_of(series, palette).colour, opacity);
  for (const Series& series : figure.series) {
    const Look look = look_of(series, palette);
    picture.add(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round"{}/>)",
                path(series.points, &Point::value, false, "M"), look.colour, series.look == 0 ? 2.6 : 1.8,
                look.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", look.dash));
    const std::size_t every = std::max<std::size_t>(1, (series.points.size() + 3) / 6);
    for (std::size_t i = series.look % every; i < series.points.size(); i += every)
      picture.symbol(x(series.points[i].at), up_to(series.points[i].value), look.symbol, look.colour);
  }
  picture.add("</g>");
  double legend = top + 6, widest = 0;
  for (const Series& series : figure.series) {
    const Look look = look_of(series, palette);
    std::string name = cut_to(series.name, longest_text);
    if (series.outside) name += ": " + series.text + ", outside";
    picture.line(right + 18, legend, right + 44, legend, look.colour, series.look == 0 ? 2.6 : 1.8, look.dash);
    picture.symbol(right + 31, legend, look.symbol, look.colour);
    picture.text(right + 52, legend + 4, "start", name, palette.ink);
    widest = std::max(widest, width_of(name));
    legend += 20;
  }
  const std::string group = figure.group.empty() ? "" : figure.group + ": ";
  return picture.whole(right + 52 + widest + 12, std::max(floor + below, legend + 6), group + figure.caption);
}

} // namespace

std::string svg_figure(const Figure& figure, bool dark) {
  const Palette& palette = dark ? night : light;
  return figure.kind == Figure::Kind::differences ? draw_differences(figure, palette) : draw_lines(figure, palette);
}

} // namespace heed
