// The table and the figures for a paper: one document that compiles by itself with pdflatex, lualatex or xelatex, and
// whose parts can be copied into another.
#include "experiments/report/latex.hpp"

#include "experiments/metrics/lengths.hpp"
#include "experiments/report/answers.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/digits.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace heed {

namespace {

constexpr std::string_view head = R"tex(\documentclass{article}
\usepackage[margin=25mm]{geometry}
)tex";

constexpr std::string_view preamble = R"tex(\usepackage{booktabs}
\usepackage{pgfplots}
\pgfplotsset{compat=1.16}
% Colours that people with any kind of colour vision tell apart: Okabe and Ito, 2008.
\definecolor{heedblue}{HTML}{0072B2}
\definecolor{heedvermillion}{HTML}{D55E00}
\definecolor{heedgreen}{HTML}{009E73}
\definecolor{heedpurple}{HTML}{CC79A7}
\definecolor{heedorange}{HTML}{E69F00}
\definecolor{heedsky}{HTML}{56B4E9}
\definecolor{heedgrey}{HTML}{777777}
)tex";

/// Steps as plain whole numbers, without a power of ten at the axis.
constexpr const char* plain_numbers = "/pgf/number format/.cd, fixed, precision=0";

/// Numbers in mathematics, so that a minus is one, and 1.2e-07 a product.
std::string maths(const std::string& text) {
  std::string out = "$";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t power = text.find("e-", at);
    out += text.substr(at, power - at);
    if (power == std::string::npos) break;
    at = std::min(text.find_first_not_of("0123456789", power + 2), text.size());
    out += fmt::format("\\cdot10^{{-{}}}", std::stoi(text.substr(power + 2, at - power - 2)));
  }
  return out + "$";
}

/// Ticks that pgfplots is told, places and labels: its own round to decimals in which neighbours may look alike.
struct Ticks {
  std::string places, labels;
  int power = 0; ///< labels are to be taken times ten to this; not 0 where they would be nothing but zeros
};

/// Some 3 to 9 ticks from `low` to `high`, 1, 2 or 5 times a power of ten apart, with as few decimals as tell them
/// apart.
Ticks ticks_between(double low, double high) {
  constexpr int most_decimals = 4;
  const double least = (high - low) / 8;
  int power = static_cast<int>(std::floor(std::log10(least) + 1e-9));
  int step = 1; // of ten to `power`
  for (const int larger : {2, 5, 10})
    if (step * std::pow(10, power) < least * (1 - 1e-9)) step = larger;
  if (step == 10) {
    step = 1;
    ++power;
  }
  Ticks ticks;
  if (power < -most_decimals) ticks.power = static_cast<int>(std::floor(std::log10(std::max(-low, high))));
  const double apart = step * std::pow(10, power);
  const int decimals = std::max(0, ticks.power - power);
  for (auto i = std::ceil(low / apart - 1e-9); i <= std::floor(high / apart + 1e-9); ++i) {
    const char* comma = ticks.places.empty() ? "" : ",";
    ticks.places += fmt::format("{}{:.12g}", comma, i * apart + 0.0);
    ticks.labels += fmt::format("{}{{{}}}", comma, maths(fixed(i * apart * std::pow(10, -ticks.power), decimals)));
  }
  return ticks;
}

/// ", times $10^{-8}$", where labels are to be taken times that.
std::string times_power(const Ticks& ticks) {
  return ticks.power == 0 ? "" : fmt::format(", times $10^{{{}}}$", ticks.power);
}

std::string latex_mean(const ReportArm& arm, int decimals) {
  if (!arm.mean) return "--";
  std::string text = fixed(arm.mean, decimals);
  if (arm.standard_deviation) text += " \\pm " + fixed(arm.standard_deviation, decimals);
  return maths(text);
}

std::string latex_difference(const Verdict& verdict) {
  if (verdict.equal) return verdict.difference;
  return maths(verdict.interval.empty() ? verdict.difference : verdict.difference + "\\;" + verdict.interval);
}

std::string latex_p(const ReportArm& arm) {
  if (!arm.comparison || !arm.comparison->p) return "";
  const double p = *arm.comparison->p;
  return p < 0.001 ? "$<0.001$" : maths(probability(p));
}

/// Arms that are compared with each other, in the report's order.
struct Group {
  std::string label; ///< "length = 64"; empty where there are no groups
  std::vector<const ReportArm*> arms;
};

std::vector<Group> groups_of(const ReportData& report) {
  std::vector<Group> groups;
  for (const ReportArm& arm : report.arms) {
    if (groups.empty() || groups.back().arms.front()->group != arm.group)
      groups.push_back({report.group_label(arm), {}});
    groups.back().arms.push_back(&arm);
  }
  return groups;
}

/// What an arm is called beneath its group's heading.
std::string name_in_group(const ReportArm& arm) { return latex_text(arm.name.empty() ? arm.label : arm.name); }

/// "\emph{p}: sign flips by seed, ...", a paragraph for each note.
std::string notes(const ReportData& report) {
  std::string out = "  \\par\\medskip\n  \\begin{minipage}{\\linewidth}\\footnotesize\\raggedright\n";
  for (const std::string& note : summary_notes(report)) {
    const std::size_t colon = note.find(": ");
    out += "    ";
    if (colon != std::string::npos) out += fmt::format("\\emph{{{}}}", latex_text(note.substr(0, colon)));
    out += latex_text(colon == std::string::npos ? note : note.substr(colon)) + "\\par\n";
  }
  return out + "  \\end{minipage}\n";
}

/// "95\,\%".
std::string latex_per_cent(const ReportData& report) {
  std::string text = confidence_text(report);
  return text.replace(text.rfind(' '), 2, "\\,\\%");
}

std::string caption(const ReportData& report, bool compared) {
  std::string text = report.metric.name;
  if (report.seeds.size() > 1) text += ": mean ± standard deviation over n runs";
  if (!report.metric.unit.empty()) text += fmt::format(" ({})", report.metric.unit);
  text += fmt::format(", {}", in_words(report.metric.direction));
  if (compared)
    text += fmt::format("; differences from the reference{}, with {} intervals",
                        report.within.empty() ? "" : " of each group", confidence_text(report));
  return latex_text(text + ".");
}

std::string table(const ReportData& report) {
  const TableDigits digits(report);
  const bool compared = std::ranges::any_of(report.arms, [](const ReportArm& arm) { return !!arm.comparison; });
  const bool p = std::ranges::any_of(report.arms,
                                     [](const ReportArm& arm) { return arm.comparison && arm.comparison->p; });
  const std::string columns = fmt::format("lrr{}{}{}rr", compared ? "r" : "", p ? "r" : "", compared ? "l" : "");
  std::string out = fmt::format(
      "\\begin{{table}}[htbp]\n  \\centering\\small\\setlength{{\\tabcolsep}}{{4.5pt}}\n  \\caption{{{}}}\\smallskip\n"
      "  \\begin{{tabular}}{{{}}}\n    \\toprule\n    arm & $n$ & {}{}{}{} & parameters & time \\\\\n",
      caption(report, compared), columns, latex_text(report.metric.name),
      compared ? fmt::format(" & difference [{}]", latex_per_cent(report)) : "", p ? " & $p$" : "",
      compared ? " & answer" : "");
  for (const Group& group : groups_of(report)) {
    out += "    \\midrule\n";
    if (!group.label.empty())
      out += fmt::format("    \\multicolumn{{{}}}{{l}}{{\\emph{{{}}}}} \\\\\n", columns.size(),
                         latex_text(group.label));
    for (const ReportArm* arm : group.arms) {
      out += fmt::format("    {} & {} & {}", name_in_group(*arm), arm->values, latex_mean(*arm, digits.of(*arm).value));
      const Verdict verdict = arm->comparison ? verdict_of(*arm->comparison, report.metric, digits.of(*arm).difference)
                                              : Verdict{};
      if (compared) out += " & " + (arm->comparison ? latex_difference(verdict) : "");
      if (p) out += " & " + latex_p(*arm);
      if (compared) out += " & " + verdict.word;
      out += fmt::format(" & {} & {} \\\\\n", arm->cost ? with_commas(arm->cost->parameters) : "--",
                         arm->seconds > 0 ? duration(arm->seconds) : "--");
    }
  }
  return out + "    \\bottomrule\n  \\end{tabular}\n" + notes(report) + "\\end{table}\n";
}

std::string unit_in_brackets(const Metric& metric) {
  return metric.unit.empty() ? "" : fmt::format(" ({})", latex_text(metric.unit));
}

const char* shape_of(Mark mark) {
  switch (mark) {
    case Mark::better:
    case Mark::differs: return "color=heedblue, mark=triangle*";
    case Mark::worse: return "color=heedvermillion, mark=square*";
    case Mark::same: return "color=heedgrey, mark=diamond*";
    case Mark::open: break;
  }
  return "color=heedgrey, mark=*";
}

statistics::Interval interval_or_mean(const statistics::Comparison& c) {
  return c.interval.value_or(statistics::Interval{c.difference.mean, c.difference.mean});
}

/// From where to where differences go: all of them, their intervals, the margin, and always 0.
std::pair<double, double> difference_range(const ReportData& report) {
  double low = std::min(0.0, -report.margin.value_or(0)), high = -low;
  for (const ReportArm& arm : report.arms) {
    if (!arm.comparison) continue;
    const auto [from, to] = interval_or_mean(*arm.comparison);
    low = std::min(low, from);
    high = std::max(high, to);
  }
  const double room = high > low ? 0.05 * (high - low) : 1;
  return {low - room, high + room};
}

/// Differences with their intervals, an arm a line.
std::string forest(const ReportData& report) {
  const auto [low, high] = difference_range(report);
  std::string labels, ticks, plots, rules;
  int rows = 0;
  const auto add_row = [&](const std::string& label) {
    ++rows;
    ticks += fmt::format("{}{}", rows == 1 ? "" : ",", rows);
    labels += fmt::format("{}{{{}}}", rows == 1 ? "" : ",", label);
  };
  for (const Group& group : groups_of(report)) {
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
      const auto [from, to] = interval_or_mean(*arm->comparison);
      plots += fmt::format(
          "      \\addplot+[only marks, {}, mark options={{solid}}, error bars/.cd, x dir=both, "
          "x explicit, error bar style={{solid}}] coordinates {{({:.10g}, {}) += ({:.6g}, 0) -= ({:.6g}, 0)}};\n",
          shape_of(mark_of(*arm->comparison, report.metric)), mean, rows, to - mean, mean - from);
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
      "\\begin{{figure}}[htbp]\n  \\centering\n  \\begin{{tikzpicture}}\n    \\begin{{axis}}[\n"
      "      width=0.7\\linewidth, height={:.1f}cm, xmin={:.6g}, xmax={:.6g}, ymin=0.4, ymax={:.1f}, y dir=reverse,\n"
      "      ytick={{{}}},\n      yticklabels={{{}}},\n"
      "      scaled x ticks=false, xtick={{{}}},\n      xticklabels={{{}}}, xticklabel style={{font=\\footnotesize}},\n"
      "      xlabel={{difference in {}{}{}}}, tick align=outside, xmajorgrids, major grid style={{black!10}}]\n"
      "{}{}      \\draw[black!50] (axis cs:0, 0.4) -- (axis cs:0, {:.1f});\n{}    \\end{{axis}}\n"
      "  \\end{{tikzpicture}}\n"
      "  \\caption{{Differences from the reference{}, with simultaneous {} intervals by sign flips{}. Triangles "
      "are "
      "better, squares worse, diamonds the same within the margin; round where that is open.}}\n\\end{{figure}}\n",
      2.2 + 0.7 * rows, low, high, bottom, ticks, labels, across.places, across.labels, latex_text(report.metric.name),
      unit_in_brackets(report.metric), times_power(across), band, rules, bottom, plots,
      report.within.empty() ? "" : " of each group", latex_per_cent(report),
      report.margin ? fmt::format("; the band is the margin of {}", *report.margin) : "");
}

std::string coordinates(const std::vector<BandPoint>& band, double BandPoint::*part, bool backwards) {
  std::string out;
  for (std::size_t i = 0; i < band.size(); ++i) {
    const BandPoint& point = band[backwards ? band.size() - 1 - i : i];
    out += fmt::format("({},{}) ", point.at, point.*part);
  }
  return out;
}

/// What lines are drawn over: steps, or lengths.
struct Axis {
  std::function<std::vector<BandPoint>(const ReportArm&)> band;
  std::string across, up; ///< what the axes' labels say
  std::string caption;    ///< "val_loss by training step"
  std::string more = "";  ///< further options of pgfplots
};

/// The lines of one group. A name's place in `names` gives its colour, dashes and marks, which are the same in all
/// groups, and those of the page.
std::string group_lines(const ReportData& report, const Group& group, const std::vector<std::string>& names,
                        const Axis& axis) {
  static constexpr std::array marks{"*", "square*", "triangle*", "diamond*", "+", "star", "Mercedes star"};
  static constexpr std::array colours{"heedblue", "heedvermillion", "heedgreen", "heedpurple", "heedorange", "heedsky"};
  static constexpr std::array dashes{"solid", "densely dashed", "densely dotted", "dashdotted"};
  std::string bands, lines;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto drawn = std::ranges::count_if(group.arms,
                                           [&](const ReportArm* arm) { return axis.band(*arm).size() > 1; });
  const double opacity = std::max(0.05, 0.24 / static_cast<double>(std::max<std::ptrdiff_t>(2, drawn)));
  for (const ReportArm* arm : group.arms) {
    const std::vector<BandPoint> band = axis.band(*arm);
    if (band.size() < 2) continue;
    low = std::min(low, std::ranges::min(band, {}, &BandPoint::low).low);
    high = std::max(high, std::ranges::max(band, {}, &BandPoint::high).high);
    const auto place = static_cast<std::size_t>(std::ranges::find(names, name_in_group(*arm)) - names.begin());
    const char* colour = report.is_reference(*arm) ? "black" : colours[place % colours.size()];
    const char* dash = report.is_reference(*arm) ? "solid" : dashes[place / colours.size() % dashes.size()];
    const std::size_t look = report.is_reference(*arm) ? 0 : 1 + place,
                      every = std::max<std::size_t>(1, band.size() / 6);
    bands += fmt::format("      \\addplot[draw=none, fill={}, opacity={:.2g}, forget plot] coordinates {{{}{}}} "
                         "-- cycle;\n",
                         colour, opacity, coordinates(band, &BandPoint::low, false),
                         coordinates(band, &BandPoint::high, true));
    lines += fmt::format("      \\addplot[{}, {}, thick, mark={}, mark size=1.8pt, mark repeat={}, mark phase={}, "
                         "mark options={{solid}}] coordinates {{{}}};\n      \\addlegendentry{{{}}}\n",
                         colour, dash, marks[look % marks.size()], every, 1 + look % every,
                         coordinates(band, &BandPoint::mean, false), name_in_group(*arm));
  }
  if (lines.empty()) return "";
  const Ticks up = ticks_between(low, high > low ? high : low + std::max(1e-3, 0.1 * std::abs(low)));
  return fmt::format(
      "\\begin{{figure}}[htbp]\n  \\centering\n  \\begin{{tikzpicture}}\n    \\begin{{axis}}[\n"
      "      width=0.68\\linewidth, height=7.5cm, xlabel={{{}}}, ylabel={{{}{}}}, scaled ticks=false,\n"
      "{}      xticklabel style={{{}}}, ytick={{{}}},\n      yticklabels={{{}}}, tick align=outside,\n"
      "      legend style={{at={{(1.03,1)}}, anchor=north west, draw=none, font=\\small}}, legend cell align=left]\n"
      "{}{}    \\end{{axis}}\n  \\end{{tikzpicture}}\n"
      "  \\caption{{{}{}: the mean over seeds, and the band from the lowest to the highest.}}\n"
      "\\end{{figure}}\n",
      axis.across, axis.up, times_power(up), axis.more, plain_numbers, up.places, up.labels, bands, lines,
      group.label.empty() ? "" : latex_text(group.label) + ": ", axis.caption);
}

/// A figure for each axis and group.
std::string figures_of(const ReportData& report, const std::vector<Axis>& axes) {
  constexpr int most_waiting = 6; // LaTeX holds few figures that have no page yet
  std::vector<std::string> names; // of what isn't a reference
  for (const ReportArm& arm : report.arms)
    if (std::string name = name_in_group(arm);
        !report.is_reference(arm) && std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  std::string out;
  int figures = 0;
  for (const Axis& axis : axes)
    for (const Group& group : groups_of(report)) {
      const std::string figure = group_lines(report, group, names, axis);
      if (figure.empty()) continue;
      if (figures > 0) out += figures % most_waiting == 0 ? "\\clearpage\n\n" : "\n";
      out += figure;
      ++figures;
    }
  return out;
}

/// Lengths are marked one by one, and stand apart by their ratios where the longest is eight times the shortest.
std::string axis_of_lengths(const ReportData& report, const std::string& metric) {
  std::set<std::int64_t> lengths;
  for (const ReportArm& arm : report.arms)
    for (const BandPoint& point : length_band(arm, metric)) lengths.insert(point.at);
  const std::string places = fmt::format("{}", fmt::join(lengths, ","));
  return fmt::format("      {}xtick={{{}}}, xticklabels={{{}}},\n",
                     *lengths.rbegin() >= 8 * *lengths.begin() ? "xmode=log, " : "", places, places);
}

/// Learning curves, accuracies by the rows' own lengths, and the metric at each of [train] evaluate_lengths.
std::string curves(const ReportData& report) {
  const std::string name = latex_text(report.curve_metric().name);
  std::vector<Axis> axes = {
      {curve_band, "step", name + unit_in_brackets(report.curve_metric()), name + " by training step"}};
  const auto add = [&](const std::string& metric, const std::string& of, const std::string& more) {
    axes.push_back({[metric](const ReportArm& arm) { return length_band(arm, metric); }, "length", latex_text(of),
                    latex_text(of) + " of rows of each length, in the last evaluation", more});
  };
  add(std::string(by_length_metric), "val_accuracy", "");
  if (const std::string metric = metric_at_lengths(report); !metric.empty())
    add(metric, metric_of_family(metric), axis_of_lengths(report, metric));
  return figures_of(report, axes);
}

std::string answers(const ReportData& report) {
  std::string items;
  const auto add = [&](const std::string& sentence) { items += fmt::format("  \\item {}\n", latex_text(sentence)); };
  std::ranges::for_each(limit_sentences(report), add);
  for (const ReportArm& arm : report.arms)
    if (arm.comparison) add(answer_sentence(report, arm));
  std::ranges::for_each(interaction_sentences(report), add);
  return items.empty() ? "" : "\\begin{itemize}\n" + items + "\\end{itemize}\n";
}

} // namespace

std::string render_latex(const ReportData& report) {
  std::string body = fmt::format("\\begin{{document}}\n\\section*{{{}}}\n",
                                 latex_text(report.question.empty() ? report.name : report.question));
  for (const std::string& part : {answers(report), table(report), forest(report)})
    if (!part.empty()) body += "\n" + part;
  for (std::size_t i = 0; i < report.also.size(); ++i) {
    const ReportData further = by_further_metric(report, i);
    body += fmt::format("\n\\paragraph{{{}}} {}\n{}\n{}", latex_text(further.metric.name),
                        latex_text(further_note(further.metric)), answers(further), table(further));
  }
  if (const std::string part = curves(report); !part.empty()) body += "\n" + part;
  body += "\n\\end{document}\n";

  std::string out = fmt::format("% {} (heed report), {}\n", latex_text(report.name), progress_sentence(report));
  const bool letters = body.find("\\heedletter{") != std::string::npos;
  if (letters)
    out += "% It has letters that pdflatex lacks, which shows their numbers: [U+4E2D]. xelatex and lualatex show those "
           "that\n% the font has: name one with \\setmainfont below.\n";
  out.append(head).append(latex_letters);
  if (letters) out += "% \\ifheedunicode\\setmainfont{DejaVu Serif}\\fi\n";
  return out.append(preamble) + body;
}

} // namespace heed
