// Draws figures of a report as SVG.

#include "experiments/report/figures.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/svg_picture.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace heed {

namespace svg {

namespace {

using document::Figure;
using document::Point;
using document::Series;

/// The longest name beside a plot, so that the plot keeps its room.
constexpr std::size_t longest_text = 44;

/// Digits are wider than most letters.
double number_width(const Series& series) { return 1.08 * width_of(series.text); }

/// A row of a figure of differences or bars.
struct Row {
  std::vector<std::string> name; ///< its lines
  double top = 0, line = 0, bottom = 0;
};

/// @param room    of names; of a narrow page, with the number beside the first line
/// @param bottom  gets the end of the last row
std::vector<Row> rows_of(const Figure& figure, const Medium& medium, double room, double& bottom) {
  constexpr double pitch = 15, heading = 34;
  std::vector<Row> rows;
  std::string group;
  for (const Series& series : figure.series) {
    if (!series.group.empty() && series.group != group) bottom += heading;
    group = series.group;
    Row row{lines_of(series.name, room - (medium.narrow ? number_width(series) + 14 : 0), room), bottom};
    const double name = pitch * static_cast<double>(row.name.size());
    row.bottom = row.top + (medium.narrow ? name + 31 : std::max(28.0, name + 6));
    row.line = medium.narrow ? row.bottom - 13 : (row.top + row.bottom) / 2;
    bottom = row.bottom;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// A figure of rows: differences with symbols, or bars.
std::string draw_rows(const Figure& figure, const Medium& medium) {
  const bool bars = figure.kind == Figure::Kind::bars;
  const Palette& palette = medium.palette;
  Picture picture(medium);
  const double edge = medium.edge(), top = 8;
  double names = 0, texts = 0, bottom = top;
  for (const Series& series : figure.series) {
    names = std::max(names, width_of(series.name));
    texts = std::max(texts, number_width(series));
  }
  names = medium.narrow ? medium.width
                        : std::min(names, medium.is_file() ? letter * longest_text : 0.36 * medium.width);
  const std::vector<Row> rows = rows_of(figure, medium, names, bottom);
  const double left = edge + (medium.narrow ? 12 : names + 14);
  const double right = medium.is_file() ? left + 320 : medium.width - (medium.narrow ? 12 : texts + 14);
  const double width = medium.is_file() ? right + 14 + texts + edge : medium.width, end = width - edge;
  const Scale x{figure.x.low, figure.x.high, left, right};
  const auto inside = [&](double value) { return std::clamp(x(value), left, right); };
  const auto beyond = [&](double value) { return value < figure.x.low ? -1 : value > figure.x.high ? 1 : 0; };
  // Where names stand above their lines, the band and the rules are only at the lines.
  std::vector<std::pair<double, double>> spans;
  if (!medium.narrow) spans.emplace_back(top, bottom);
  else
    for (const Row& row : rows) spans.emplace_back(row.line - 12, row.bottom);
  if (figure.margin)
    for (const auto& [from, to] : spans)
      picture.add(R"(<rect class="margin" x="{}" y="{}" width="{}" height="{}" fill="{}" fill-opacity=".13"/>)",
                  svg_at(inside(-*figure.margin)), svg_at(from),
                  svg_at(inside(*figure.margin) - inside(-*figure.margin)), svg_at(to - from), palette.band);
  const Ticks ticks = ticks_with_room(x, medium.narrow ? 6 : 7);
  std::string rules, zero;
  for (const auto& [from, to] : spans) {
    for (const double place : ticks.places) rules += upright(x(place), from, to);
    zero += upright(x(0), from, to);
  }
  picture.stroke(rules, palette.hair, 1);
  picture.stroke(zero, palette.ink, 1.2);
  if (figure.margin_line) {
    std::string line;
    for (const auto& [from, to] : spans) line += upright(inside(*figure.margin_line), from, to);
    picture.stroke(line, palette.worse, 1.2, "5 3");
  }
  picture.axis_below(x, figure.x, ticks, bottom);
  if (!bars) {
    picture.text(left, bottom + 56, "start", "\u25c2 " + figure.x.sides[0], palette.soft);
    picture.text(right, bottom + 56, "end", figure.x.sides[1] + " \u25b8", palette.soft);
  }
  std::string group;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Series& series = figure.series[i];
    const Point& point = series.points.front();
    const Row& row = rows[i];
    const Mark mark = mark_of(series.mark, palette);
    if (!series.group.empty() && series.group != group)
      picture.text(edge, row.top - 9, "start", series.group, palette.ink, "class=\"heading\" font-weight=\"600\"");
    group = series.group;
    picture.add(R"(<g class="row" data-series="{}">)", i);
    picture.hit(0, row.top, width, row.bottom - row.top);
    const double first = medium.narrow ? row.top + 15 : row.line + 4 - 7.5 * static_cast<double>(row.name.size() - 1);
    for (std::size_t line = 0; line < row.name.size(); ++line)
      if (!row.name[line].empty())
        picture.text(edge, first + 15 * static_cast<double>(line), "start", row.name[line], palette.ink,
                     "class=\"name\"");
    picture.text(end, medium.narrow ? row.top + 15 : row.line + 4, "end", number_text(series.text), palette.soft);
    const int out = beyond(point.value);
    if (bars && point.value > 0)
      picture.add(R"(<rect class="bar" x="{}" y="{}" width="{}" height="14" fill="{}" fill-opacity="{}"/>)",
                  svg_at(x(0)), svg_at(row.line - 7), svg_at(inside(point.value) - x(0)), palette.band,
                  series.look == 0 ? ".25" : ".55");
    if (series.has_range) {
      std::string whisker = level(row.line, inside(point.low), inside(point.high));
      for (const double value : {point.low, point.high}) {
        if (const int side = beyond(value); side == 0) whisker += upright(x(value), row.line - 4, row.line + 4);
        else if (side != out)
          picture.add(
              R"(<path class="continues" d="M{0} {1}l{2} 5l{3} 5" fill="none" stroke="{4}" stroke-width="1.8"/>)",
              svg_at(inside(value) - 5 * side), svg_at(row.line - 5), 5 * side, -5 * side, mark.colour);
      }
      picture.stroke(whisker, mark.colour, 1.8);
    }
    if (bars) {
      // the bar shows the value
    } else if (out == 0) picture.symbols({{x(point.value), row.line}}, mark.symbol, mark.colour, mark.hollow);
    else
      picture.add(R"(<path class="outside" d="M{} {}l{} -6v12z" fill="{}"/>)", svg_at(inside(point.value)),
                  svg_at(row.line), -9 * out, mark.colour);
    picture.add("</g>");
  }
  return picture.whole(width, bottom + 66, figure);
}

/// The ticks of the axis below lines. Steps and lengths are whole numbers.
Ticks ticks_below(const document::Axis& axis, int most) {
  if (axis.has_fractions) return ticks_between(axis.low, axis.high, most);
  Ticks ticks;
  for (const double place : axis.ticks.empty() ? ticks_between(axis.low, axis.high, most).places : axis.ticks)
    if (place == std::round(place)) {
      ticks.places.push_back(place);
      ticks.labels.push_back(with_commas(static_cast<std::int64_t>(place)));
    }
  return ticks;
}

std::string draw_lines(const Figure& figure, const Medium& medium) {
  const Palette& palette = medium.palette;
  Picture picture(medium);
  const double top = 14 + (figure.mark ? 16 : 0) + (medium.narrow ? 20 : 0);
  const double floor = top + (medium.is_file() ? 270 : medium.narrow ? 220 : 310);
  const bool log = medium.logarithmic;
  const double low = figure.y.low, high = figure.y.high, room = log ? std::pow(high / low, 0.04) : 0.03 * (high - low);
  const Scale y = log ? Scale{low / room, high * room, floor, top, true} : Scale{low - room, high + room, floor, top};
  const Ticks up = log ? logarithmic_ticks(y.low, y.high, 7) : ticks_between(y.low, y.high, 6);
  double widest = 0;
  for (const std::string& label : up.labels) widest = std::max(widest, width_of(label));
  const bool chance = figure.chance && *figure.chance >= y.low && *figure.chance <= y.high;
  const double beside = chance ? 14 + width_of("chance") : 0;
  const double left = medium.edge() + widest + 8 + (medium.narrow ? 0 : 22);
  const double right = medium.is_file() ? left + 430 : medium.width - std::max(beside, 12.0);
  const Scale x{figure.x.low, figure.x.high, left + 8, right - 8, figure.x.logarithmic};
  std::string rules;
  for (const double place : up.places) rules += level(y(place), left, right);
  picture.stroke(rules, palette.hair, 1);
  for (std::size_t i = 0; i < up.places.size(); ++i)
    picture.text(left - 8, y(up.places[i]) + 4, "end", number_text(up.labels[i]), palette.soft);
  picture.axis_below(x, figure.x, ticks_below(figure.x, medium.narrow ? 5 : 7), floor);
  const std::string of = label_of(figure.y, up.power);
  if (medium.narrow) picture.text(0, 12, "start", of, palette.soft);
  else
    picture.add(R"svg(<text transform="translate({} {}) rotate(-90)" text-anchor="middle" fill="{}">{}</text>)svg",
                svg_at(medium.edge() + 11), svg_at((top + floor) / 2), palette.soft, svg_text(of));
  if (chance) {
    picture.stroke(level(y(*figure.chance), left, right), palette.soft, 1, "2 4");
    picture.text(right + 8, y(*figure.chance) + 4, "start", "chance", palette.soft, "class=\"beside\"");
  }
  if (figure.mark) {
    const bool before = x(*figure.mark) > (left + right) / 2;
    picture.stroke(upright(x(*figure.mark), top - 6, floor), palette.soft, 1, "3 3");
    picture.text(x(*figure.mark), top - 10, before ? "end" : "start", "longest in training", palette.soft,
                 "class=\"beside\"");
  }
  // What is outside is drawn to where it leaves the plot.
  const auto at = [&](double value) { return std::clamp(y(value), -9000.0, 9000.0); };
  const auto path = [&](const Series& series, double Point::*part, bool backwards = false) {
    std::string out;
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const Point& point = series.points[backwards ? series.points.size() - 1 - i : i];
      out += fmt::format("{}{} {}", i == 0 && !backwards ? "M" : "L", svg_at(x(point.at)), svg_at(at(point.*part)));
    }
    return out;
  };
  const auto band = [&](const Series& series, std::string_view name) {
    picture.add(R"(<path class="{}" d="{}{}z"/>)", name, path(series, &Point::low), path(series, &Point::high, true));
  };
  const auto shown = std::ranges::count_if(figure.series, [](const Series& series) { return !series.outside; });
  const double opacity = 0.16 / (1 + 0.35 * static_cast<double>(std::clamp<std::ptrdiff_t>(shown, 1, 6) - 1));
  std::string clip = fmt::format("plot-{}{}{}", figure.name, medium.is_file() ? "" : "-", medium.name);
  std::ranges::replace(clip, ' ', '-');
  picture.add(R"(<clipPath id="{}"><rect x="{}" y="{}" width="{}" height="{}"/></clipPath>)", clip, svg_at(left),
              svg_at(top), svg_at(right - left), svg_at(floor - top));
  picture.add(R"svg(<g clip-path="url(#{})">)svg", clip);
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    if (series.outside) continue;
    picture.add(R"(<g class="band" data-series="{}" fill="{}" fill-opacity="{:.3f}">)", i,
                look_of(series, palette).colour, opacity);
    band(series, "range");
    Series deviation = series;
    for (Point& point : deviation.points) {
      point.low = point.value - point.standard_deviation.value_or(0);
      point.high = point.value + point.standard_deviation.value_or(0);
    }
    if (!medium.is_file()) band(deviation, "deviation");
    picture.add("</g>");
  }
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    const Series& series = figure.series[s];
    const Look look = look_of(series, palette);
    picture.add(R"(<g class="curve" data-series="{}">)", s);
    picture.stroke(path(series, &Point::value), look.colour, series.look == 0 ? 2.6 : 1.8, look.dash);
    const std::size_t every = std::max<std::size_t>(1, (series.points.size() + 3) / 6);
    std::vector<Place> marked;
    for (std::size_t i = series.look % every; i < series.points.size(); i += every)
      marked.emplace_back(x(series.points[i].at), at(series.points[i].value));
    picture.symbols(marked, look.symbol, look.colour);
    picture.add("</g>");
  }
  picture.add("</g>");
  picture.hit(left, top, right - left, floor - top);
  if (!medium.is_file()) return picture.whole(medium.width, floor + 46, figure);
  double legend = top + 6;
  widest = 0;
  for (const Series& series : figure.series) {
    const Look look = look_of(series, palette);
    std::string name = cut_to(series.name, longest_text);
    if (series.outside) name += ": " + series.text + ", outside";
    const double from = right + 18 + beside;
    picture.stroke(level(legend, from, from + 26), look.colour, series.look == 0 ? 2.6 : 1.8, look.dash);
    picture.symbols({{from + 13, legend}}, look.symbol, look.colour);
    picture.text(from + 34, legend + 4, "start", name, palette.ink);
    widest = std::max(widest, width_of(name));
    legend += 20;
  }
  return picture.whole(right + 52 + beside + widest + 12, std::max(floor + 50, legend + 6), figure);
}

std::string draw(const Figure& figure, const Medium& medium) {
  poll_caller();
  return figure.kind == Figure::Kind::lines ? draw_lines(figure, medium) : draw_rows(figure, medium);
}

} // namespace

} // namespace svg

std::string svg_figure(const document::Figure& figure, bool dark) {
  return svg::draw(figure, {.palette = dark ? svg::night : svg::light});
}

std::string page_pictures(const document::Figure& figure, std::size_t place) {
  constexpr double wide = 740, narrow = 358; // pixels, which a page may scale a little
  bool positive = figure.kind == document::Figure::Kind::lines;
  for (const document::Series& series : figure.series)
    for (const document::Point& point : series.points) positive = positive && point.low > 0;
  std::string out;
  for (const bool all : {false, true}) {
    if (all && !figure.is_cut) continue;
    const document::Figure shown = all ? uncut(figure) : figure;
    for (const bool logarithmic : {false, true})
      for (const double width : {wide, narrow})
        if (positive || !logarithmic)
          out += svg::draw(shown, {.palette = svg::named,
                                   .width = width,
                                   .narrow = width == narrow,
                                   .logarithmic = logarithmic,
                                   .name = fmt::format("{} {} {}", width == narrow ? "narrow" : "wide",
                                                       logarithmic ? "log" : "linear", all ? "all" : "most"),
                                   .place = place});
  }
  return out;
}

} // namespace heed
