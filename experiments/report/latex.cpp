// The table and the figures for a paper: one document that compiles by itself with pdflatex, lualatex or xelatex, and
// whose parts can be copied into another.
#include "experiments/report/latex.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/digits.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace heed {

namespace {

constexpr std::string_view preamble = R"tex(\documentclass{article}
\usepackage[margin=25mm]{geometry}
\usepackage[T1]{fontenc}
\usepackage{booktabs}
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

/// A number in mathematics, so that its minus is one.
std::string maths(const std::string& number) { return "$" + number + "$"; }

std::string mean_cell(const ReportArm& arm, int decimals) {
  if (!arm.mean) return "--";
  std::string text = fixed(arm.mean, decimals);
  if (arm.standard_deviation) text += " \\pm " + fixed(arm.standard_deviation, decimals);
  return maths(text);
}

std::string difference_cell(const ReportArm& arm, int decimals) {
  if (!arm.comparison) return "";
  const statistics::PairedDifference& d = arm.comparison->difference;
  std::string text = signed_fixed(d.mean, decimals);
  if (d.interval)
    text += fmt::format("\\;[{}, {}]", signed_fixed(d.interval->low, decimals),
                        signed_fixed(d.interval->high, decimals));
  return maths(text);
}

std::string p_cell(const ReportArm& arm) {
  if (!arm.comparison || !arm.comparison->p) return "";
  const double p = *arm.comparison->p;
  return p < 0.001 ? "$<0.001$" : maths(probability(p));
}

std::string table(const ReportData& report) {
  const Digits digits = digits_of(report);
  const bool p = std::any_of(report.arms.begin(), report.arms.end(),
                             [](const ReportArm& arm) { return arm.comparison && arm.comparison->p; });
  std::string out = fmt::format(
      "\\begin{{table}}[htbp]\n  \\centering\n  \\begin{{tabular}}{{lrrr{}rr}}\n    \\toprule\n"
      "    arm & $n$ & {} & difference [95\\,\\%]{} & parameters & time \\\\\n    \\midrule\n",
      p ? "r" : "", latex_text(report.metric.name), p ? " & $p$" : "");
  for (const ReportArm& arm : report.arms) {
    out += fmt::format("    {} & {} & {} & {}", latex_text(arm.label), arm.values, mean_cell(arm, digits.value),
                       difference_cell(arm, digits.difference));
    if (p) out += " & " + p_cell(arm);
    out += fmt::format(" & {} & {} \\\\\n", arm.facts ? with_commas(arm.facts->cost.parameters) : "--",
                       arm.seconds > 0 ? duration(arm.seconds) : "--");
  }
  out += "    \\bottomrule\n  \\end{tabular}\n";
  std::string notes;
  for (const std::string& note : summary_notes(report)) notes += (notes.empty() ? "" : " ") + latex_text(note);
  return out + fmt::format("  \\caption{{{}.}}\n\\end{{table}}\n", notes.substr(0, notes.find_last_not_of('.') + 1));
}

std::string unit_of(const ReportData& report) {
  return report.metric.unit.empty() ? "" : fmt::format(" ({})", latex_text(report.metric.unit));
}

/// Differences with their intervals, an arm a line.
const char* mark_of(const statistics::Comparison& c, bool higher_is_better) {
  if (c.answer == statistics::Answer::same) return "color=heedgrey, mark=diamond*";
  if (c.answer != statistics::Answer::differs || c.difference.mean == 0) return "color=heedgrey, mark=*";
  return (c.difference.mean > 0) == higher_is_better ? "color=heedblue, mark=triangle*"
                                                     : "color=heedvermillion, mark=square*";
}

std::string forest(const ReportData& report) {
  std::vector<const ReportArm*> arms;
  for (const ReportArm& arm : report.arms)
    if (arm.comparison) arms.push_back(&arm);
  if (arms.empty()) return "";
  std::string labels, ticks, plots;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    ticks += fmt::format("{}{}", i == 0 ? "" : ",", i + 1);
    labels += fmt::format("{}{{{}}}", i == 0 ? "" : ",", latex_text(arms[i]->label));
    const statistics::PairedDifference& d = arms[i]->comparison->difference;
    const char* style = mark_of(*arms[i]->comparison, report.metric.higher_is_better);
    const double half = d.interval ? (d.interval->high - d.interval->low) / 2 : 0;
    plots += fmt::format("      \\addplot+[only marks, {}, mark options={{solid}}, error bars/.cd, x dir=both, "
                         "x explicit] coordinates {{({}, {}) +- ({}, 0)}};\n",
                         style, d.mean, i + 1, half);
  }
  const std::string band =
      report.margin ? fmt::format("      \\fill[heedgrey, opacity=0.15] (axis cs:{}, 0.4) rectangle "
                                  "(axis cs:{}, {});\n",
                                  -*report.margin, *report.margin, static_cast<double>(arms.size()) + 0.6)
                    : "";
  return fmt::format(
      "\\begin{{figure}}[htbp]\n  \\centering\n  \\begin{{tikzpicture}}\n    \\begin{{axis}}[\n"
      "      width=0.7\\linewidth, height={:.1f}cm, ymin=0.4, ymax={:.1f}, y dir=reverse,\n"
      "      ytick={{{}}},\n      yticklabels={{{}}},\n"
      "      scaled x ticks=false, xticklabel style={{/pgf/number format/fixed}}, xlabel={{difference in {}{}}}, "
      "tick align=outside, xmajorgrids, major grid style={{black!10}}]\n"
      "{}      \\draw[black!50] (axis cs:0, 0.4) -- (axis cs:0, {:.1f});\n{}    \\end{{axis}}\n  \\end{{tikzpicture}}\n"
      "  \\caption{{Differences from the reference, with Student's paired 95\\,\\% intervals{}. Triangles are better, "
      "squares worse, diamonds the same within the margin; round where that is open.}}\n\\end{{figure}}\n",
      2.2 + 0.7 * static_cast<double>(arms.size()), static_cast<double>(arms.size()) + 0.6, ticks, labels,
      latex_text(report.metric.name), unit_of(report), band, static_cast<double>(arms.size()) + 0.6, plots,
      report.margin ? fmt::format("; the band is the margin of {}", *report.margin) : "");
}

std::string coordinates(const std::vector<BandPoint>& band, double BandPoint::* part, bool backwards) {
  std::string out;
  for (std::size_t i = 0; i < band.size(); ++i) {
    const BandPoint& point = band[backwards ? band.size() - 1 - i : i];
    out += fmt::format("({},{}) ", point.at, point.*part);
  }
  return out;
}

std::string curves(const ReportData& report) {
  static constexpr std::array colours{"black",      "heedblue",   "heedvermillion", "heedgreen",
                                      "heedpurple", "heedorange", "heedsky"};
  static constexpr std::array dashes{"solid", "densely dashed", "densely dotted", "dashdotted"};
  std::string plots;
  std::size_t arm_index = 0;
  for (const ReportArm& arm : report.arms) {
    const std::vector<BandPoint> band = curve_band(arm);
    const std::string colour = colours[arm_index % colours.size()];
    const std::string dash = dashes[arm_index / colours.size() % dashes.size()];
    ++arm_index;
    if (band.size() < 2) continue;
    plots += fmt::format("      \\addplot[draw=none, fill={}, opacity=0.12, forget plot] coordinates {{{}{}}} "
                         "-- cycle;\n",
                         colour, coordinates(band, &BandPoint::low, false), coordinates(band, &BandPoint::high, true));
    plots += fmt::format("      \\addplot[{}, {}, thick] coordinates {{{}}};\n      \\addlegendentry{{{}}}\n", colour,
                         dash, coordinates(band, &BandPoint::mean, false), latex_text(arm.label));
  }
  if (plots.empty()) return "";
  return fmt::format(
      "\\begin{{figure}}[htbp]\n  \\centering\n  \\begin{{tikzpicture}}\n    \\begin{{axis}}[\n"
      "      width=0.68\\linewidth, height=7.5cm, xlabel={{step}}, ylabel={{{}{}}}, scaled ticks=false,\n"
      "      xticklabel style={{/pgf/number format/fixed}}, tick align=outside,\n"
      "      legend style={{at={{(1.03,1)}}, anchor=north west, draw=none, font=\\small}}, legend cell align=left]\n"
      "{}    \\end{{axis}}\n  \\end{{tikzpicture}}\n"
      "  \\caption{{{} by training step: the mean over seeds, and the band from the lowest to the highest.}}\n"
      "\\end{{figure}}\n",
      latex_text(report.metric.name), unit_of(report), plots, latex_text(report.metric.name));
}

std::string answers(const ReportData& report) {
  std::string items;
  for (const ReportArm& arm : report.arms)
    if (arm.comparison) items += fmt::format("  \\item {}\n", latex_text(answer_sentence(report, arm)));
  return items.empty() ? "" : "\\begin{itemize}\n" + items + "\\end{itemize}\n";
}

} // namespace

std::string render_latex(const ReportData& report) {
  std::string out = fmt::format("% {} (heed report), {}\n", latex_text(report.name), progress_sentence(report));
  out += preamble;
  out += fmt::format("\\begin{{document}}\n\\section*{{{}}}\n",
                     latex_text(report.question.empty() ? report.name : report.question));
  for (const std::string& part : {answers(report), table(report), forest(report), curves(report)})
    if (!part.empty()) out += "\n" + part;
  return out + "\n\\end{document}\n";
}

} // namespace heed
