#include "experiments/report/latex.hpp"
#include "experiments/report/latex_parts.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/digits.hpp"
#include "experiments/report/formula_notes.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/verdict.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace heed {

namespace {

std::string latex_mean(const ReportArm& arm, int decimals) {
  if (!arm.mean) return "--";
  std::string text = fixed(arm.mean, decimals);
  if (arm.standard_deviation) text += " \\pm " + fixed(arm.standard_deviation, decimals);
  return latex_maths(text);
}

std::string latex_difference(const Verdict& verdict) {
  if (verdict.answer == AnswerWord::equal) return verdict.difference;
  return latex_maths(verdict.interval.empty() ? verdict.difference : verdict.difference + "\\;" + verdict.interval);
}

std::string latex_p(const ReportData& report, const ReportArm& arm) {
  if (!arm.comparison || !arm.comparison->p) return "";
  const double p = *arm.comparison->p;
  return (p < 0.001 ? "$<0.001$" : latex_maths(probability(p))) + latex_text(earlier_look_text(report, arm));
}

/// "\emph{p}: sign flips by seed, ...", a paragraph for each note.
std::string notes(const ReportData& report) {
  std::string out = "  \\par\\medskip\n  \\begin{minipage}{\\linewidth}\\footnotesize\\raggedright\n";
  std::vector<std::string> all = summary_notes(report);
  std::ranges::copy(formula_notes(report), std::back_inserter(all));
  for (const std::string& note : all) {
    const std::size_t colon = note.find(": ");
    out += "    ";
    if (colon != std::string::npos) out += fmt::format("\\emph{{{}}}", latex_text(note.substr(0, colon)));
    out += latex_text(colon == std::string::npos ? note : note.substr(colon)) + "\\par\n";
  }
  return out + "  \\end{minipage}\n";
}

std::string caption(const ReportData& report, bool compared) {
  std::string text = report.metric.shown();
  if (report.seeds.size() > 1) text += ": mean ± standard deviation over n runs";
  if (!report.metric.unit.empty()) text += fmt::format(" ({})", report.metric.unit);
  text += fmt::format(", {}", in_words(report.metric.direction));
  if (compared)
    text += fmt::format("; differences from the reference{}{}", report.within.empty() ? "" : " of each group",
                        has_intervals(report) ? fmt::format(", with {} intervals", confidence_text(report)) : "");
  return latex_text(with_capitals(text + "."));
}

/// The values of a TextTable as rows of a tabular.
std::string latex_row(const std::vector<std::string>& cells) {
  std::string out = "    ";
  for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : " & ") + latex_text(cells[i]);
  return out + " \\\\\n";
}

} // namespace

std::string latex_single(const ReportData& report) {
  const TextTable table = measured_table(report);
  std::string out =
      fmt::format("\\begin{{table}}[htbp]\n  \\centering\\small\n  \\caption{{{}}}\\label{{{}}}\\smallskip\n"
                  "  \\heedfit{{\\begin{{tabular}}{{lrll}}\n    \\toprule\n{}    \\midrule\n",
                  latex_text(fmt::format("What the run{} measured{}.", report.seeds.size() > 1 ? "s" : "",
                                         report.seeds.size() > 1 ? ": mean ± standard deviation" : "")),
                  latex_label(report, "tab", "measured"), latex_row(table.headings));
  for (const std::vector<std::string>& row : table.rows) out += latex_row(row);
  return out + "    \\bottomrule\n  \\end{tabular}}\n" + notes(report) + "\\end{table}\n";
}

std::string latex_table(const ReportData& report, bool with_notes) {
  const TableDigits digits(report);
  const bool compared = std::ranges::any_of(report.arms, [](const ReportArm& arm) { return !!arm.comparison; });
  const bool p = std::ranges::any_of(report.arms,
                                     [](const ReportArm& arm) { return arm.comparison && arm.comparison->p; });
  const bool parameters = !report.table || std::ranges::any_of(report.arms, &has_cost),
             time = !report.table || std::ranges::any_of(report.arms, &has_time);
  const std::string numbers = fmt::format("rr{}{}{}{}{}", compared ? "r" : "", p ? "r" : "", compared ? "l" : "",
                                          parameters ? "r" : "", time ? "r" : "");
  const std::string names = longest_name(report) <= short_name ? "l"
                                                               : ">{\\raggedright\\arraybackslash}p{0.24\\linewidth}";
  std::string out = fmt::format(
      "\\begin{{table}}[htbp]\n  \\centering\\small\\setlength{{\\tabcolsep}}{{4.5pt}}"
      "\\renewcommand{{\\arraystretch}}{{1.1}}\n  "
      "\\caption{{{}}}\\label{{{}}}\\smallskip\n"
      "  \\heedfit{{\\begin{{tabular}}{{{}}}\n    \\toprule\n    arm & $n$ & {}{}{}{}{}{} \\\\\n",
      caption(report, compared), latex_label(report, "tab", report.metric.name), names + numbers,
      latex_text(report.metric.shown()), compared ? fmt::format(" & difference [{}]", latex_per_cent(report)) : "",
      p ? " & $p$" : "", compared ? " & answer" : "", parameters ? " & parameters" : "", time ? " & time" : "");
  for (const LatexGroup& group : latex_groups(report)) {
    out += "    \\midrule\n";
    if (!group.label.empty())
      out += fmt::format("    \\multicolumn{{{}}}{{l}}{{\\emph{{{}}}}} \\\\\n", numbers.size() + 1,
                         latex_text(group.label));
    for (const ReportArm* arm : group.arms) {
      out += fmt::format("    {} & {} & {}", name_in_group(*arm), arm->values, latex_mean(*arm, digits.of(*arm).value));
      const Verdict verdict = arm->comparison ? verdict_of(*arm->comparison, report.metric, digits.of(*arm).difference)
                                              : Verdict{};
      if (compared) out += " & " + (arm->comparison ? latex_difference(verdict) : "");
      if (p) out += " & " + latex_p(report, *arm);
      if (compared) out += " & " + (arm->comparison ? std::string(name_of(verdict.answer)) : missing_answer(*arm));
      if (parameters) out += " & " + (arm->cost ? with_commas(arm->cost->parameters) : "--");
      if (time) out += " & " + (arm->seconds > 0 ? duration(arm->seconds) : "--");
      out += " \\\\\n";
    }
  }
  return out + "    \\bottomrule\n  \\end{tabular}}\n" + (with_notes ? notes(report) : "") + "\\end{table}\n";
}

} // namespace heed
