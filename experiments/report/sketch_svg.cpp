#include "experiments/report/sketch_svg.hpp"

#include "experiments/report/svg_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <span>

namespace heed {

namespace {

constexpr double panel_width = 340, panel_height = 290;
constexpr double left = 62, top = 34, width = 256, height = 196; // of the plotted area

// From the most negative to the most positive value; index `middle` is 0.
constexpr int middle = 6;
constexpr std::array<const char*, 13> shades = {"#08407e", "#215d9a", "#4a81b5", "#7ba6cd", "#adc9e2",
                                                "#d6e5f1", "#ffffff", "#fbe3d3", "#f5c2a0", "#ec9c6c",
                                                "#dd763d", "#c6571b", "#a33f00"};
constexpr std::array<const char*, 3> curve_colors = {"#0072b2", "#d55e00", "#009e73"};
constexpr const char* hidden = "#cfccc5";
constexpr const char* no_number = "#d01c8b"; // NaN, and scores of infinity, of which weights are NaN
constexpr std::size_t panels_in_row = 4;

// A number with few digits: 0.25, -4, 1e-05.
std::string short_number(double x) { return fmt::format("{:.3g}", std::abs(x) < 1e-9 ? 0 : x); }
struct SketchAxis {
  double low, high;
  double share(double x) const { return (x - low) / (high - low); }
};

// About four round numbers within the axis.
std::vector<double> ticks(const SketchAxis& axis) {
  const double length = axis.high - axis.low, power = std::pow(10, std::floor(std::log10(length / 3)));
  double step = power;
  for (const double times : {2.0, 5.0, 10.0})
    if (length / step > 5) step = times * power;
  std::vector<double> out;
  for (double x = std::ceil(axis.low / step - 1e-9) * step; x <= axis.high + 1e-9 * length; x += step) out.push_back(x);
  return out;
}

// Draws one panel; its upper left corner is at (x_, 0).
class Panel {
public:
  /// @param most  the greatest magnitude in all heat maps of the picture
  Panel(const Sketch& sketch, double x, double most, std::string& to)
      : sketch_(sketch), x_(x + left), most_(most), to_(to) {}

  void draw() {
    text(x_, 20, "start", sketch_.title, "font-weight=\"600\"");
    if (!sketch_.heatmap.values.empty()) draw_heatmap();
    else if (!sketch_.bars.empty()) draw_bars();
    else draw_curves();
    add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#5c6068"/>)", x_, top, width, height);
    text(x_ + width / 2, top + height + 36, "middle", sketch_.x);
    add(R"svg(<text transform="translate({} {}) rotate(-90)" text-anchor="middle">{}</text>)svg", x_ - 46,
        top + height / 2, svg_text(sketch_.y));
  }

private:
  template <class... Values> void add(fmt::format_string<Values...> format, Values&&... values) {
    to_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
  }
  void text(double x, double y, const char* anchor, const std::string& what, const char* more = "") {
    add(R"(<text x="{}" y="{}" text-anchor="{}"{}{}>{}</text>)", svg_at(x), svg_at(y), anchor, *more ? " " : "", more,
        svg_text(what));
  }

  void draw_x_axis(const SketchAxis& axis) {
    for (const double x : ticks(axis)) {
      const double place = svg_at(x_ + width * axis.share(x));
      add(R"(<path d="M{} {}v4" stroke="#5c6068"/>)", place, top + height);
      text(place, top + height + 17, "middle", short_number(x));
    }
  }
  void draw_y_axis(const SketchAxis& axis) {
    for (const double y : ticks(axis)) {
      const double place = svg_at(top + height * (1 - axis.share(y)));
      add(R"(<path d="M{} {}h{}" stroke="#eceae4"/>)", x_, place, width);
      text(x_ - 6, place + 4, "end", short_number(y));
    }
  }

  // The cells of each shade as one path of rectangles.
  void draw_heatmap() {
    constexpr int of_hidden = -1, of_no_number = -2;
    const Sketch::Heatmap& map = sketch_.heatmap;
    const auto color = [](int of) {
      return of == of_hidden ? hidden : of == of_no_number ? no_number : shades[static_cast<std::size_t>(of)];
    };
    const auto shade = [&](std::int64_t row, std::int64_t column) {
      const double v = map.values[static_cast<std::size_t>(row * map.columns + column)];
      if (!std::isfinite(v)) return std::isinf(v) && v < 0 ? of_hidden : of_no_number;
      return most_ > 0 ? middle + static_cast<int>(std::lround(middle * v / most_ + 1e-4)) : middle;
    };
    const double cell_width = width / static_cast<double>(map.columns),
                 cell_height = height / static_cast<double>(map.rows);
    for (int wanted = of_no_number; wanted < std::ssize(shades); ++wanted) {
      std::string path;
      for (std::int64_t row = 0; row < map.rows; ++row)
        for (std::int64_t column = 0, end = 0; column < map.columns; column = end) {
          end = column + 1;
          if (shade(row, column) != wanted) continue;
          while (end < map.columns && shade(row, end) == wanted) ++end;
          path += fmt::format("M{} {}h{}v{}h{}z", svg_at(x_ + cell_width * static_cast<double>(column)),
                              svg_at(top + cell_height * static_cast<double>(row)),
                              svg_at(cell_width * static_cast<double>(end - column)), svg_at(cell_height),
                              -svg_at(cell_width * static_cast<double>(end - column)));
        }
      if (!path.empty()) add(R"(<path fill="{}" d="{}"/>)", color(wanted), path);
    }
    if (map.grid > 0) draw_grid(map, cell_width, cell_height);
    const auto ends = [](std::pair<double, double> range) { return std::array{range.first, range.second}; };
    for (const double x : ends(sketch_.x_range))
      text(x == sketch_.x_range.first ? x_ : x_ + width, top + height + 17,
           x == sketch_.x_range.first ? "start" : "end", short_number(x));
    for (const double y : ends(sketch_.y_range))
      text(x_ - 6, y == sketch_.y_range.first ? top + 11 : top + height, "end", short_number(y));
    draw_key(map);
  }

  void draw_grid(const Sketch::Heatmap& map, double cell_width, double cell_height) {
    std::string path;
    for (std::int64_t column = map.grid; column < map.columns; column += map.grid)
      path += fmt::format("M{} {}v{}", svg_at(x_ + cell_width * static_cast<double>(column)), top, height);
    for (std::int64_t row = map.grid; row < map.rows; row += map.grid)
      path += fmt::format("M{} {}h{}", x_, svg_at(top + cell_height * static_cast<double>(row)), width);
    if (!path.empty()) add(R"(<path fill="none" stroke="#5c6068" stroke-width=".5" d="{}"/>)", path);
  }

  // What the darkest shades mean, and the cells without a number.
  void draw_key(const Sketch::Heatmap& map) {
    const auto any = [&](const auto& condition) { return std::ranges::any_of(map.values, condition); };
    const bool hides = any([](double v) { return std::isinf(v) && v < 0; }),
               infinite = any([](double v) { return std::isinf(v) && v > 0; }),
               nan = any([](double v) { return std::isnan(v); });
    double x = x_;
    const auto entry = [&](const char* color, const std::string& label) {
      add(R"(<rect x="{}" y="{}" width="11" height="11" fill="{}" stroke="#8d9097" stroke-width=".5"/>)", svg_at(x),
          panel_height - 15, color);
      text(x + 16, panel_height - 5, "start", label);
      x += 28 + 6.6 * static_cast<double>(label.size());
    };
    if (most_ > 0) entry(shades.front(), short_number(-most_));
    entry(shades[middle], most_ > 0 ? "0" : "visible");
    if (most_ > 0) entry(shades.back(), short_number(most_));
    if (hides) entry(hidden, "hidden");
    if (nan || infinite) entry(no_number, nan && infinite ? "NaN or infinite" : nan ? "NaN" : "infinite");
  }

  void draw_bars() {
    SketchAxis axis{0, 0};
    for (const auto& [label, value] : sketch_.bars) {
      axis.low = std::min(axis.low, value);
      axis.high = std::max(axis.high, 1.06 * value);
    }
    if (axis.low == axis.high) axis.high = 1;
    draw_y_axis(axis);
    const double step = width / static_cast<double>(sketch_.bars.size()), zero = top + height * (1 - axis.share(0));
    double x = x_;
    for (const auto& [label, value] : sketch_.bars) {
      const double end = top + height * (1 - axis.share(value));
      add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>)", svg_at(x + 0.15 * step),
          svg_at(std::min(zero, end)), svg_at(0.7 * step), svg_at(std::abs(end - zero)), curve_colors[0]);
      text(x + step / 2, top + height + 17, "middle", label);
      x += step;
    }
  }

  void draw_curves() {
    SketchAxis x{std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()}, y = x;
    for (const Sketch::Curve& curve : sketch_.curves)
      for (const auto& [at_x, at_y] : curve.points) {
        x = {std::min(x.low, at_x), std::max(x.high, at_x)};
        if (std::isfinite(at_y)) y = {std::min(y.low, at_y), std::max(y.high, at_y)};
      }
    const double margin = y.low == y.high ? 1 : 0.05 * (y.high - y.low);
    y = {y.low - margin, y.high + margin};
    draw_x_axis(x);
    draw_y_axis(y);
    for (std::size_t i = 0; i < sketch_.curves.size(); ++i) {
      const Sketch::Curve& curve = sketch_.curves[i];
      const char* const color = curve_colors[i % curve_colors.size()];
      std::string points;
      for (const auto& [at_x, at_y] : curve.points)
        if (std::isfinite(at_y))
          points += fmt::format("{}{} {}", points.empty() ? "" : " ", svg_at(x_ + width * x.share(at_x)),
                                svg_at(top + height * (1 - y.share(at_y))));
      add(R"(<polyline fill="none" stroke="{}" stroke-width="2" stroke-linejoin="round" points="{}"/>)", color, points);
      if (curve.label.empty()) continue;
      const double row = panel_height - 5, column = x_ + 130 * static_cast<double>(i);
      add(R"(<path d="M{} {}h14" stroke="{}" stroke-width="2"/>)", svg_at(column), row - 4, color);
      text(column + 19, row, "start", curve.label);
    }
  }

  const Sketch& sketch_;
  double x_; // of the plotted area
  double most_;
  std::string& to_;
};

} // namespace

std::string svg_of(const std::vector<Sketch>& panels, const std::string& description) {
  const std::size_t columns = std::min(panels.size(), panels_in_row),
                    rows = columns == 0 ? 1 : (panels.size() + columns - 1) / columns;
  std::string out = svg_begin(panel_width * static_cast<double>(columns), panel_height * static_cast<double>(rows),
                              description);
  double most = 0;
  for (const Sketch& sketch : panels)
    for (const double v : sketch.heatmap.values)
      if (std::isfinite(v)) most = std::max(most, std::abs(v));
  for (std::size_t row = 0; row < rows; ++row) {
    if (rows > 1) out += fmt::format("<g transform=\"translate(0 {})\">\n", panel_height * static_cast<double>(row));
    double x = 0;
    for (const Sketch& panel : std::span(panels)
                                   .subspan(row * panels_in_row)
                                   .first(std::min(panels_in_row, panels.size() - row * panels_in_row))) {
      Panel(panel, x, most, out).draw();
      x += panel_width;
    }
    if (rows > 1) out += "</g>\n";
  }
  return out + "</svg>\n";
}

} // namespace heed
