#include "experiments/report/latex.hpp"
#include "experiments/report/latex_parts.hpp"
#include "experiments/report/latex_ticks.hpp"

#include "experiments/metrics/lengths.hpp"
#include "experiments/report/answers.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/digits.hpp"
#include "experiments/report/outliers.hpp"
#include "experiments/report/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace heed {

namespace {

/// Lines up to this number of points have a mark at each of them.
constexpr std::size_t most_marked = 20;

/// Writes steps as plain integers, without a power of ten at the axis.
constexpr const char* plain_numbers = "/pgf/number format/.cd, fixed, precision=0";

std::string unit_in_brackets(const Metric& metric) {
  return metric.unit.empty() ? "" : fmt::format(" ({})", latex_text(metric.unit));
}

const char* shape_of(AnswerWord answer) {
  switch (answer) {
    case AnswerWord::better:
    case AnswerWord::differs: return "color=heedblue, mark=triangle*";
    case AnswerWord::worse: return "color=heedvermillion, mark=square*";
    case AnswerWord::same:
    case AnswerWord::equal: return "color=heedgrey, mark=diamond*";
    case AnswerWord::undecided:
    case AnswerWord::underpowered:
    case AnswerWord::none: break;
  }
  return "color=heedgrey, mark=*";
}

statistics::Interval interval_or_mean(const statistics::Comparison& c) {
  return c.interval.value_or(statistics::Interval{c.difference.mean, c.difference.mean});
}

/// The arms whose differences would leave the others no room.
std::set<const ReportArm*> far_differences(const ReportData& report) {
  std::vector<const ReportArm*> compared;
  std::vector<double> reaches;
  for (const ReportArm& arm : report.arms) {
    if (!arm.comparison) continue;
    const auto [from, to] = interval_or_mean(*arm.comparison);
    compared.push_back(&arm);
    reaches.push_back(std::max(std::abs(from), std::abs(to)));
  }
  const std::vector<bool> far = outlying(reaches);
  std::set<const ReportArm*> out;
  for (std::size_t i = 0; i < far.size(); ++i)
    if (far[i]) out.insert(compared[i]);
  return out;
}

/// The range of the differences' axis: all differences that are not `far`, their intervals, the margin, and 0.
std::pair<double, double> difference_range(const ReportData& report, const std::set<const ReportArm*>& far) {
  double low = std::min(0.0, -report.margin.value_or(0)), high = -low;
  for (const ReportArm& arm : report.arms) {
    if (!arm.comparison || far.contains(&arm)) continue;
    const auto [from, to] = interval_or_mean(*arm.comparison);
    low = std::min(low, from);
    high = std::max(high, to);
  }
  const double room = high > low ? 0.05 * (high - low) : 1;
  return {low - room, high + room};
}

/// Values beyond `limits` are written as the limits: TeX has no numbers as large as those of diverged runs.
std::string coordinates(const std::vector<BandPoint>& band, double BandPoint::*part, bool backwards,
                        const std::optional<statistics::Interval>& limits) {
  std::string out;
  for (std::size_t i = 0; i < band.size(); ++i) {
    const BandPoint& point = band[backwards ? band.size() - 1 - i : i];
    const double value = point.*part;
    out += fmt::format("({},{}) ", point.at, limits ? std::clamp(value, limits->low, limits->high) : value);
  }
  return out;
}

/// The longest length of training, which a line marks.
struct LengthMark {
  std::int64_t length = 0;
  bool in_right_half = false;
};

/// The axis of a line plot: steps or lengths.
struct LineAxis {
  std::function<std::vector<BandPoint>(const ReportArm&)> band;
  std::string metric;     ///< for the figure's \label
  std::string across, up; ///< the axes' labels
  std::string caption;    ///< "val_loss by training step"
  std::string more = "";  ///< further options of pgfplots
  std::optional<LengthMark> mark = {};
};

/// A dashed line at the longest length of training.
std::string mark_of(const LineAxis& axis) {
  if (!axis.mark) return "";
  return fmt::format("      \\draw[densely dashed, black!50] ({{axis cs:{0},0}}|-{{rel axis cs:0,0}}) -- "
                     "({{axis cs:{0},0}}|-{{rel axis cs:0,1}}) node[pos=0.96, anchor={1}, font=\\scriptsize, black!70] "
                     "{{longest in training}};\n",
                     axis.mark->length, axis.mark->in_right_half ? "east" : "west");
}

/// The training length of all arms, if it is the same for all and within the lengths that are drawn.
std::optional<LengthMark> common_training_length(const ReportData& report, const std::string& metric) {
  std::set<std::int64_t> trained, drawn;
  for (const ReportArm& arm : report.arms) {
    if (arm.training_length) trained.insert(*arm.training_length);
    for (const BandPoint& point : length_band(arm, metric)) drawn.insert(point.at);
  }
  if (trained.size() != 1 || drawn.empty()) return std::nullopt;
  const std::int64_t length = *trained.begin();
  if (length < *drawn.begin() || length > *drawn.rbegin()) return std::nullopt;
  return LengthMark{length, 2 * length > *drawn.begin() + *drawn.rbegin()};
}

/// The arms of a group whose lines would leave the others no room: their greatest or least mean is an outlier.
std::set<const ReportArm*> far_lines(const LatexGroup& group, const LineAxis& axis) {
  std::vector<const ReportArm*> drawn;
  std::vector<double> greatest, least;
  for (const ReportArm* arm : group.arms) {
    const std::vector<BandPoint> band = axis.band(*arm);
    if (band.size() < 2) continue;
    drawn.push_back(arm);
    greatest.push_back(std::ranges::max(band, {}, &BandPoint::mean).mean);
    least.push_back(std::ranges::min(band, {}, &BandPoint::mean).mean);
  }
  const std::vector<bool> above = outlying(greatest), below = outlying(least);
  std::set<const ReportArm*> far;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    if (above[i] || below[i]) far.insert(drawn[i]);
  return far;
}

/// The lines of one group. The number of a name in `names` determines its colour, dashes and marks. They are the same
/// in all groups and on the HTML page.
/// @param longest  longest_name(report)
std::string group_lines(const ReportData& report, const LatexGroup& group, std::size_t longest,
                        const std::map<std::string, std::size_t>& names, const LineAxis& axis) {
  static constexpr std::array marks{"*", "square*", "triangle*", "diamond*", "+", "star", "Mercedes star"};
  static constexpr std::array colours{"heedblue", "heedvermillion", "heedgreen", "heedpurple", "heedorange", "heedsky"};
  static constexpr std::array dashes{"solid", "densely dashed", "densely dotted", "dashdotted"};
  std::string bands, lines, outside;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const std::set<const ReportArm*> far = far_lines(group, axis);
  const auto drawn = std::ranges::count_if(group.arms,
                                           [&](const ReportArm* arm) { return axis.band(*arm).size() > 1; });
  const double opacity = std::max(0.05, 0.24 / static_cast<double>(std::max<std::ptrdiff_t>(2, drawn)));
  for (const ReportArm* arm : group.arms) {
    const std::vector<BandPoint> band = axis.band(*arm);
    if (band.size() < 2) continue;
    if (far.contains(arm)) {
      outside += fmt::format("{}{} (at last {})", outside.empty() ? "" : ", ", name_in_group(*arm),
                             latex_maths(fmt::format("{:.3g}", band.back().mean)));
      continue;
    }
    low = std::min(low, std::ranges::min(band, {}, &BandPoint::low).low);
    high = std::max(high, std::ranges::max(band, {}, &BandPoint::high).high);
  }
  if (!std::isfinite(low) || !std::isfinite(high)) return "";
  high = high > low ? high : low + std::max(1e-3, 0.1 * std::abs(low));
  std::optional<statistics::Interval> limits; // twice as wide as the axis
  if (!far.empty()) limits = {low - 0.5 * (high - low), high + 0.5 * (high - low)};
  for (const ReportArm* arm : group.arms) {
    const std::vector<BandPoint> band = axis.band(*arm);
    if (band.size() < 2) continue;
    const auto name = names.find(name_in_group(*arm));
    const std::size_t place = name == names.end() ? names.size() : name->second; // the reference has no number
    const char* colour = report.is_reference(*arm) ? "black" : colours[place % colours.size()];
    const char* dash = report.is_reference(*arm) ? "solid" : dashes[place / colours.size() % dashes.size()];
    const std::size_t look = report.is_reference(*arm) ? 0 : 1 + place,
                      every = band.size() <= most_marked ? 1 : band.size() / 6;
    bands += fmt::format("      \\addplot[draw=none, fill={}, opacity={:.2g}, forget plot] coordinates {{{}{}}} "
                         "-- cycle;\n",
                         colour, opacity, coordinates(band, &BandPoint::low, false, limits),
                         coordinates(band, &BandPoint::high, true, limits));
    lines += fmt::format("      \\addplot[{}, {}, thick, mark={}, mark size=1.8pt, mark repeat={}, mark phase={}, "
                         "mark options={{solid}}] coordinates {{{}}};\n      \\addlegendentry{{{}}}\n",
                         colour, dash, marks[look % marks.size()], every, 1 + look % every,
                         coordinates(band, &BandPoint::mean, false, limits), name_in_group(*arm));
  }
  const bool beside = longest <= short_name;
  const std::string legend = beside ? "at={(1.03,1)}, anchor=north west, draw=none, font=\\small"
                                    : fmt::format("at={{(0.5,-0.2)}}, anchor=north, draw=none, font=\\footnotesize, "
                                                  "legend columns={}",
                                                  longest <= 40 ? 2 : 1);
  const Ticks up = ticks_between(low, high);
  std::string ends, said;
  if (!far.empty()) {
    ends = fmt::format("      ymin={:.6g}, ymax={:.6g},\n", low - 0.05 * (high - low), high + 0.05 * (high - low));
    said = fmt::format(" Outside the axis: {}.", outside);
  }
  return fmt::format(
      "\\begin{{figure}}[htbp]\n  \\centering\n  \\heedfit{{\\begin{{tikzpicture}}\n    \\begin{{axis}}[\n"
      "      width={}\\linewidth, height=7.5cm, xlabel={{{}}}, ylabel={{{}{}}}, scaled ticks=false,\n"
      "{}      xticklabel style={{{}}}, ytick={{{}}},\n      yticklabels={{{}}}, tick align=outside,\n"
      "      legend style={{{}}}, legend cell align=left]\n"
      "{}{}    \\end{{axis}}\n  \\end{{tikzpicture}}}}\n"
      "  \\caption{{{}{}: the mean over seeds, and the band from the lowest to the highest.{}}}\\label{{{}}}\n"
      "\\end{{figure}}\n",
      beside ? "0.68" : "0.9", axis.across, axis.up, times_power(up), axis.more + ends, plain_numbers, up.places,
      up.labels, legend, bands, lines + mark_of(axis), group.label.empty() ? "" : latex_text(group.label) + ": ",
      group.label.empty() ? with_capitals(axis.caption) : axis.caption, said,
      latex_label(report, "fig", fmt::format("{} by {} {}", axis.metric, axis.across, group.label)));
}

/// A figure for each axis and group.
std::string figures_of(const ReportData& report, const std::vector<LineAxis>& axes) {
  constexpr int most_waiting = 6;           // LaTeX can hold only few floats that have no page yet
  std::map<std::string, std::size_t> names; // of arms that are not references, in the order of the arms
  for (const ReportArm& arm : report.arms)
    if (!report.is_reference(arm)) names.emplace(name_in_group(arm), names.size());
  const std::size_t longest = longest_name(report);
  std::string out;
  int figures = 0;
  for (const LineAxis& axis : axes)
    for (const LatexGroup& group : latex_groups(report)) {
      const std::string figure = group_lines(report, group, longest, names, axis);
      if (figure.empty()) continue;
      if (figures > 0) out += figures % most_waiting == 0 ? "\\clearpage\n\n" : "\n";
      out += figure;
      ++figures;
    }
  return out;
}

/// The axis of lengths, with a tick for each length. It is logarithmic if the longest is at least eight times the
/// shortest.
std::string axis_of_lengths(const ReportData& report, const std::string& metric) {
  std::set<std::int64_t> lengths;
  for (const ReportArm& arm : report.arms)
    for (const BandPoint& point : length_band(arm, metric)) lengths.insert(point.at);
  const std::string places = fmt::format("{}", fmt::join(lengths, ","));
  return fmt::format("      {}xtick={{{}}}, xticklabels={{{}}},\n",
                     *lengths.rbegin() >= 8 * *lengths.begin() ? "xmode=log, " : "", places, places);
}

/// The height of a row of the forest plot in cm: names of several lines need more.
double row_height(const ReportData& report) {
  constexpr std::size_t letters_of_a_line = 30;
  const std::size_t longest = longest_name(report);
  if (longest <= short_name) return 0.7;
  return std::clamp(0.25 + 0.36 * std::ceil(static_cast<double>(longest) / letters_of_a_line), 0.7, 1.4);
}

} // namespace

std::string latex_forest(const ReportData& report) {
  const std::set<const ReportArm*> far = far_differences(report);
  const auto [low, high] = difference_range(report, far);
  const TableDigits digits(report);
  std::string labels, ticks, plots, rules;
  int rows = 0;
  const auto add_row = [&](const std::string& label) {
    ++rows;
    ticks += fmt::format("{}{}", rows == 1 ? "" : ",", rows);
    labels += fmt::format("{}{{{}}}", rows == 1 ? "" : ",", label);
  };
  for (const LatexGroup& group : latex_groups(report)) {
    if (std::ranges::none_of(group.arms, [](const ReportArm* arm) { return !!arm->comparison; })) continue;
    if (!group.label.empty()) {
      if (rows > 0)
        rules += fmt::format("      \\draw[black!35] (axis cs:{:.6g}, {}.5) -- (axis cs:{:.6g}, {}.5);\n", low, rows,
                             high, rows);
      add_row(fmt::format("\\textit{{{}}}", latex_text(group.label)));
    }
    for (const ReportArm* arm : group.arms) {
      if (!arm->comparison) continue;
      add_row(name_in_group(*arm));
      const double mean = arm->comparison->difference.mean;
      if (far.contains(arm)) { // an arrow with the number
        const bool left = mean < 0;
        const std::string number =
            latex_maths(verdict_of(*arm->comparison, report.metric, digits.of(*arm).difference).difference);
        plots += fmt::format("      \\node[anchor={}, font=\\footnotesize] at (axis cs:{:.6g}, {}) {{{}}};\n",
                             left ? "west" : "east", left ? low : high, rows,
                             left ? "$\\triangleleft$ " + number : number + " $\\triangleright$");
        continue;
      }
      const auto [from, to] = interval_or_mean(*arm->comparison);
      plots += fmt::format(
          "      \\addplot+[only marks, {}, mark options={{solid}}, error bars/.cd, x dir=both, "
          "x explicit, error bar style={{solid}}] coordinates {{({:.10g}, {}) += ({:.6g}, 0) -= ({:.6g}, 0)}};\n",
          shape_of(answer_word(arm->comparison, report.metric)), mean, rows, to - mean, mean - from);
    }
  }
  if (rows == 0) return "";
  const double bottom = rows + 0.6;
  const Ticks across = ticks_between(low, high);
  const std::string band = report.margin
                               ? fmt::format("      \\fill[heedgrey, opacity=0.15] (axis cs:{}, 0.4) rectangle "
                                             "(axis cs:{}, {});\n",
                                             -*report.margin, *report.margin, bottom)
                               : "";
  return fmt::format(
      "\\begin{{figure}}[htbp]\n  \\centering\n  \\heedfit{{\\begin{{tikzpicture}}\n    \\begin{{axis}}[\n"
      "      width=0.7\\linewidth, height={:.1f}cm, xmin={:.6g}, xmax={:.6g}, ymin=0.4, ymax={:.1f}, y dir=reverse,\n"
      "      ytick={{{}}},\n      yticklabels={{{}}}, yticklabel style={{{}}},\n"
      "      scaled x ticks=false, xtick={{{}}},\n      xticklabels={{{}}}, xticklabel style={{font=\\footnotesize}},\n"
      "      xlabel={{difference in {}{}{}}}, tick align=outside, xmajorgrids, major grid style={{black!10}}]\n"
      "{}{}      \\draw[black!50] (axis cs:0, 0.4) -- (axis cs:0, {:.1f});\n{}    \\end{{axis}}\n"
      "  \\end{{tikzpicture}}}}\n"
      "  \\caption{{Differences from the reference{}{}{}. Triangles "
      "are "
      "better, squares worse, diamonds the same within the margin; round where that is "
      "open.{}}}\\label{{{}}}\n\\end{{figure}}\n",
      2.2 + row_height(report) * rows, low, high, bottom, ticks, labels,
      longest_name(report) <= short_name ? ""
      : row_height(report) < 1.4         ? "text width=0.3\\linewidth, align=right, font=\\footnotesize"
                                         : "text width=0.3\\linewidth, align=right, font=\\scriptsize",
      across.places, across.labels, latex_text(report.metric.shown()), unit_in_brackets(report.metric),
      times_power(across), band, rules, bottom, plots, report.within.empty() ? "" : " of each group",
      has_intervals(report) ? fmt::format(", with simultaneous {} intervals by sign flips", latex_per_cent(report))
                            : "",
      report.margin ? fmt::format("; the band is the margin of {}", *report.margin) : "",
      far.empty() ? "" : " Arrows point to arms outside the axis.", latex_label(report, "fig", "differences"));
}

std::string latex_curves(const ReportData& report) {
  const std::string name = latex_text(report.curve_metric().shown());
  std::vector<LineAxis> axes = {{curve_band, report.curve_metric().name, "step",
                                 name + unit_in_brackets(report.curve_metric()), name + " by training step"}};
  const auto add = [&](const std::string& metric, const std::string& of, const std::string& more) {
    const std::string shown = latex_text(report.shown_metric(of));
    axes.push_back({[metric](const ReportArm& arm) { return length_band(arm, metric); }, of, "length", shown,
                    shown + " of rows of each length, in the last evaluation", more});
  };
  add(std::string(by_length_metric), "val_accuracy", "");
  if (const std::string metric = metric_at_lengths(report); !metric.empty()) {
    add(metric, metric_of_family(metric), axis_of_lengths(report, metric));
    axes.back().mark = common_training_length(report, metric);
  }
  return figures_of(report, axes);
}

} // namespace heed
