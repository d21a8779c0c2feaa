#include "experiments/report/latex.hpp"
#include "experiments/report/latex_parts.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/arm_table.hpp"
#include "experiments/report/notes.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace heed {

namespace {

std::string latex_cell(const document::Column& column, const document::Cell& cell) {
  if (cell.missing) return "--";
  const bool maths = !cell.in_words && !cell.text.empty() &&
                     (column.kind == document::Column::Kind::number ||
                      column.kind == document::Column::Kind::probability);
  std::string text = cell.text;
  if (maths) {
    if (!cell.spread.empty()) text += " \\pm" + cell.spread.substr(std::string_view("±").size());
    if (!cell.interval.empty()) text += "\\;" + cell.interval;
    text = latex_maths(text);
  } else {
    text = latex_text(text);
  }
  return text + (cell.remark.empty() ? "" : " " + latex_text(cell.remark));
}

std::string latex_heading(const document::Column& column) {
  return column.kind == document::Column::Kind::count || column.kind == document::Column::Kind::probability
             ? fmt::format("${}$", column.title)
             : latex_text(column.title);
}

/// "\emph{p}: sign flips by seed, ...", a paragraph for each note.
std::string notes(const ReportData& report) {
  std::string out = "  \\par\\medskip\n  \\begin{minipage}{\\linewidth}\\footnotesize\\raggedright\n";
  for (const document::Note& note : report_notes(report))
    out += fmt::format("    \\emph{{{}}}: {}\\par\n", latex_text(note.name), latex_text(note.text));
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
  const document::Table table = arm_table(report);
  std::vector<std::size_t> shown;
  std::string alignment = longest_name(report) <= short_name ? "l"
                                                             : ">{\\raggedright\\arraybackslash}p{0.24\\linewidth}";
  std::string headings;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const document::Column& column = table.columns[c];
    if (column.detail != document::Column::Detail::main) continue;
    if (!shown.empty()) alignment += column.is_number() ? 'r' : 'l';
    headings += (shown.empty() ? "" : " & ") + latex_heading(column);
    shown.push_back(c);
  }
  const bool compared = std::ranges::any_of(report.arms, [](const ReportArm& arm) { return !!arm.comparison; });
  std::string out = fmt::format("\\begin{{table}}[htbp]\n  \\centering\\small\\setlength{{\\tabcolsep}}{{4.5pt}}"
                                "\\renewcommand{{\\arraystretch}}{{1.1}}\n  "
                                "\\caption{{{}}}\\label{{{}}}\\smallskip\n"
                                "  \\heedfit{{\\begin{{tabular}}{{{}}}\n    \\toprule\n    {} \\\\\n",
                                caption(report, compared), latex_label(report, "tab", report.metric.name), alignment,
                                headings);
  const std::string* group = nullptr;
  for (const document::Row& row : table.rows) {
    if (!group || *group != row.group) {
      out += "    \\midrule\n";
      if (!row.group.empty())
        out += fmt::format("    \\multicolumn{{{}}}{{l}}{{\\emph{{{}}}}} \\\\\n", shown.size(), latex_text(row.group));
    }
    group = &row.group;
    for (std::size_t i = 0; i < shown.size(); ++i)
      out += i == 0 ? "    " + latex_text(row.name) : " & " + latex_cell(table.columns[shown[i]], row.cells[shown[i]]);
    out += " \\\\\n";
  }
  return out + "    \\bottomrule\n  \\end{tabular}}\n" + (with_notes ? notes(report) : "") + "\\end{table}\n";
}

} // namespace heed
