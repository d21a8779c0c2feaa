#include "experiments/report/latex.hpp"

#include "experiments/report/figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <vector>

namespace heed {

namespace {

using document::Figure;
using document::Point;
using document::Series;

/// Lines up to this number of points have a mark at each of them.
constexpr std::size_t most_marked = 20;

/// Writes steps as plain integers, without a power of ten at the axis.
constexpr const char* plain_numbers = "/pgf/number format/.cd, fixed, precision=0";

const char* shape_of(AnswerWord answer) {
  switch (answer) {
    case AnswerWord::better:
    case AnswerWord::differs: return "color=heedblue, mark=triangle*";
    case AnswerWord::worse: return "color=heedvermillion, mark=square*";
    case AnswerWord::same:
    case AnswerWord::not_worse:
    case AnswerWord::equal: return "color=heedgrey, mark=diamond*";
    case AnswerWord::undecided:
    case AnswerWord::underpowered:
    case AnswerWord::none: break;
  }
  return "color=heedgrey, mark=*";
}

/// The places of ticks and their texts. Both are passed to pgfplots, because its own texts may round neighbouring ticks
/// to the same number.
struct LatexTicks {
  std::string places, labels;
  std::string power; ///< ", times $10^{-8}$" if the texts must be multiplied by it; otherwise empty
};

LatexTicks latex_ticks(double low, double high) {
  const Ticks ticks = ticks_between(low, high);
  LatexTicks out;
  for (std::size_t i = 0; i < ticks.places.size(); ++i) {
    out.places += fmt::format("{}{:.12g}", i == 0 ? "" : ",", ticks.places[i]);
    out.labels += fmt::format("{}{{{}}}", i == 0 ? "" : ",", latex_maths(ticks.labels[i]));
  }
  if (ticks.power != 0) out.power = fmt::format(", times $10^{{{}}}$", ticks.power);
  return out;
}

/// Values beyond `limits` are written as the limits: TeX has no numbers as large as those of diverged runs.
std::string coordinates(const std::vector<Point>& points, double Point::*part, bool backwards,
                        const std::optional<statistics::Interval>& limits) {
  std::string out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& point = points[backwards ? points.size() - 1 - i : i];
    const double value = point.*part;
    out += fmt::format("({},{}) ", point.at, limits ? std::clamp(value, limits->low, limits->high) : value);
  }
  return out;
}

/// A dashed line at the longest length of training.
std::string mark_of(const Figure& figure) {
  if (!figure.mark) return "";
  return fmt::format("      \\draw[densely dashed, black!50] ({{axis cs:{0},0}}|-{{rel axis cs:0,0}}) -- "
                     "({{axis cs:{0},0}}|-{{rel axis cs:0,1}}) node[pos=0.96, anchor={1}, font=\\scriptsize, black!70] "
                     "{{longest in training}};\n",
                     *figure.mark, 2 * *figure.mark > figure.x.low + figure.x.high ? "east" : "west");
}

/// Options of pgfplots for the axis of lengths, with a tick for each length.
std::string ticks_of_lengths(const Figure& figure) {
  if (figure.x.has_fractions) {
    const LatexTicks ticks = latex_ticks(figure.x.low, figure.x.high);
    return fmt::format("      xtick={{{}}}, xticklabels={{{}}},\n", ticks.places, ticks.labels);
  }
  if (figure.x.ticks.empty()) return "";
  const std::string places = fmt::format("{}", fmt::join(figure.x.ticks, ","));
  return fmt::format("      {}xtick={{{}}}, xticklabels={{{}}},\n", figure.x.logarithmic ? "xmode=log, " : "", places,
                     places);
}

std::string latex_lines(const ReportData& report, const Figure& figure) {
  static constexpr std::array marks{"*", "square*", "triangle*", "diamond*", "+", "star", "Mercedes star"};
  static constexpr std::array colours{"heedblue", "heedvermillion", "heedgreen", "heedpurple", "heedorange", "heedsky"};
  static constexpr std::array dashes{"solid", "densely dashed", "densely dotted", "dashdotted"};
  std::string bands, lines;
  const double low = figure.y.low, high = figure.y.high;
  const double opacity = std::max(0.05, 0.24 / static_cast<double>(std::max<std::size_t>(2, figure.series.size())));
  std::optional<statistics::Interval> limits; // twice as wide as the axis
  if (figure.is_cut) limits = {low - 0.5 * (high - low), high + 0.5 * (high - low)};
  for (const Series& series : figure.series) {
    const bool reference = series.look == 0;
    const std::size_t place = reference ? 0 : series.look - 1;
    const char* colour = reference ? "black" : colours[place % colours.size()];
    const char* dash = reference ? "solid" : dashes[place / colours.size() % dashes.size()];
    const std::vector<Point>& points = series.points;
    const std::size_t every = points.size() <= most_marked ? 1 : points.size() / 6;
    bands += fmt::format(
        "      \\addplot[draw=none, fill={}, opacity={:.2g}, forget plot] coordinates {{{}{}}} -- cycle;\n", colour,
        opacity, coordinates(points, &Point::low, false, limits), coordinates(points, &Point::high, true, limits));
    lines += fmt::format("      \\addplot[{}, {}, thick, mark={}, mark size=1.8pt, mark repeat={}, mark phase={}, "
                         "mark options={{solid}}] coordinates {{{}}};\n      \\addlegendentry{{{}}}\n",
                         colour, dash, marks[series.look % marks.size()], every, 1 + series.look % every,
                         coordinates(points, &Point::value, false, limits), latex_text(series.name));
  }
  const std::size_t longest = longest_name(report);
  const bool beside = longest <= short_name;
  const std::string legend =
      beside ? "at={(1.03,1)}, anchor=north west, draw=none, font=\\small"
             : fmt::format("at={{(0.5,-0.2)}}, anchor=north, draw=none, font=\\footnotesize, legend columns={}",
                           longest <= 40 ? 2 : 1);
  const LatexTicks up = latex_ticks(low, high);
  const std::string ends = figure.is_cut ? fmt::format("      ymin={:.6g}, ymax={:.6g},\n", low - 0.05 * (high - low),
                                                       high + 0.05 * (high - low))
                                         : "";
  return fmt::format(
      "\\begin{{figure}}[htbp]\n  \\centering\n  \\heedfit{{\\begin{{tikzpicture}}\n    \\begin{{axis}}[\n"
      "      width={}\\linewidth, height=7.5cm, xlabel={{{}}}, ylabel={{{}{}}}, scaled ticks=false,\n"
      "{}      xticklabel style={{{}}}, ytick={{{}}},\n      yticklabels={{{}}}, tick align=outside,\n"
      "      legend style={{{}}}, legend cell align=left]\n"
      "{}{}    \\end{{axis}}\n  \\end{{tikzpicture}}}}\n"
      "  \\caption{{{}{}}}\\label{{{}}}\n"
      "\\end{{figure}}\n",
      beside ? "0.68" : "0.9", latex_text(figure.x.label), latex_text(figure.y.label), up.power,
      ticks_of_lengths(figure) + ends, plain_numbers, up.places, up.labels, legend, bands, lines + mark_of(figure),
      figure.group.empty() ? "" : latex_text(figure.group) + ": ",
      latex_text(figure.group.empty() ? with_capitals(figure.caption) : figure.caption),
      latex_label(report, "fig", figure.name));
}

/// The height of a row of the forest plot in cm: names of several lines need more.
double row_height(const ReportData& report) {
  constexpr std::size_t letters_of_a_line = 30;
  const std::size_t longest = longest_name(report);
  if (longest <= short_name) return 0.7;
  return std::clamp(0.25 + 0.36 * std::ceil(static_cast<double>(longest) / letters_of_a_line), 0.7, 1.4);
}

std::string latex_forest(const ReportData& report, const Figure& figure) {
  const double low = figure.x.low, high = figure.x.high;
  std::string labels, ticks, plots, rules;
  int rows = 0;
  const auto add_row = [&](const std::string& label) {
    ++rows;
    ticks += fmt::format("{}{}", rows == 1 ? "" : ",", rows);
    labels += fmt::format("{}{{{}}}", rows == 1 ? "" : ",", label);
  };
  const std::string* group = nullptr; // whose heading stands above
  for (const Series& series : figure.series) {
    if (!series.group.empty() && (!group || *group != series.group)) {
      if (rows > 0)
        rules += fmt::format("      \\draw[black!35] (axis cs:{:.6g}, {}.5) -- (axis cs:{:.6g}, {}.5);\n", low, rows,
                             high, rows);
      add_row(fmt::format("\\textit{{{}}}", latex_text(series.group)));
      group = &series.group;
    }
    add_row(latex_text(series.name));
    const Point& point = series.points.front();
    if (series.outside) { // an arrow with the number
      const bool left = point.value < 0;
      const std::string number = latex_maths(series.text.substr(0, series.text.find(' ')));
      plots += fmt::format("      \\node[anchor={}, font=\\footnotesize] at (axis cs:{:.6g}, {}) {{{}}};\n",
                           left ? "west" : "east", left ? low : high, rows,
                           left ? "$\\triangleleft$ " + number : number + " $\\triangleright$");
      continue;
    }
    const bool bars = figure.kind == Figure::Kind::bars;
    if (bars)
      rules += fmt::format("      \\fill[heedblue, opacity={}] (axis cs:0, {}) rectangle (axis cs:{:.10g}, {});\n",
                           series.look == 0 ? "0.25" : "0.55", rows - 0.25, point.value, rows + 0.25);
    plots += fmt::format(
        "      \\addplot+[only marks, {}, mark options={{solid}}, error bars/.cd, x dir=both, "
        "x explicit, error bar style={{solid}}] coordinates {{({:.10g}, {}) += ({:.6g}, 0) -= ({:.6g}, 0)}};\n",
        bars ? "color=black, mark=none" : shape_of(series.mark), point.value, rows,
        (std::isfinite(point.high) ? point.high : high) - point.value,
        point.value - (std::isfinite(point.low) ? point.low : low)); // an open side ends at the frame
  }
  const double bottom = rows + 0.6;
  const LatexTicks across = latex_ticks(low, high);
  const std::string band =
      figure.margin
          ? fmt::format("      \\fill[heedgrey, opacity=0.15] (axis cs:{}, 0.4) rectangle (axis cs:{}, {});\n",
                        -*figure.margin, *figure.margin, bottom)
      : figure.margin_line ? fmt::format("      \\draw[heedgrey, dashed] (axis cs:{0}, 0.4) -- (axis cs:{0}, {1});\n",
                                         *figure.margin_line, bottom)
                           : "";
  return fmt::format(
      "\\begin{{figure}}[htbp]\n  \\centering\n  \\heedfit{{\\begin{{tikzpicture}}\n    \\begin{{axis}}[\n"
      "      width=0.7\\linewidth, height={:.1f}cm, xmin={:.6g}, xmax={:.6g}, ymin=0.4, ymax={:.1f}, y dir=reverse,\n"
      "      ytick={{{}}},\n      yticklabels={{{}}}, yticklabel style={{{}}},\n"
      "      scaled x ticks=false, xtick={{{}}},\n      xticklabels={{{}}}, xticklabel style={{font=\\footnotesize}},\n"
      "      xlabel={{{}{}}}, tick align=outside, xmajorgrids, major grid style={{black!10}}]\n"
      "{}{}      \\draw[black!50] (axis cs:0, 0.4) -- (axis cs:0, {:.1f});\n{}    \\end{{axis}}\n"
      "  \\end{{tikzpicture}}}}\n"
      "  \\caption{{{}}}\\label{{{}}}\n\\end{{figure}}\n",
      2.2 + row_height(report) * rows, low, high, bottom, ticks, labels,
      longest_name(report) <= short_name ? ""
      : row_height(report) < 1.4         ? "text width=0.3\\linewidth, align=right, font=\\footnotesize"
                                         : "text width=0.3\\linewidth, align=right, font=\\scriptsize",
      across.places, across.labels, latex_text(figure.x.label), across.power, band, rules, bottom, plots,
      latex_text(figure.caption), latex_label(report, "fig", figure.name));
}

} // namespace

std::string latex_figure(const ReportData& report, const Figure& figure) {
  return figure.kind == Figure::Kind::lines ? latex_lines(report, figure) : latex_forest(report, figure);
}

} // namespace heed
