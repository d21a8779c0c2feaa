// Writes the report as a LaTeX document for pdflatex, lualatex or xelatex: answers, table, figures. Each part can be
// copied into another document.
#include "experiments/report/latex.hpp"

#include "experiments/config/values.hpp"
#include "experiments/report/answers.hpp"
#include "experiments/report/figures.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/notes.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/over_tasks.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "experiments/report/variance.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <vector>

namespace heed {

namespace {

constexpr std::string_view head = R"tex(\documentclass{article}
\usepackage[margin=25mm]{geometry}
)tex";

constexpr std::string_view for_papers =
    "% To copy a table or a figure into a paper, copy these lines into its preamble, too:\n"
    "%   \\usepackage{booktabs}, \\usepackage{array} and \\usepackage{pgfplots}, which loads graphicx and xcolor;\n"
    "%   the lines below from \\newsavebox{\\heedbox} to the last \\definecolor, and those of \\heedletter where it is "
    "used.\n"
    "% With pdflatex, \\usepackage[T1]{fontenc} and \\usepackage{lmodern} embed outlines instead of Type 3 bitmaps.\n";

constexpr std::string_view preamble = R"tex(\usepackage{booktabs}
\usepackage{array}
\usepackage{pgfplots}
% A table or a plot that is wider than the text is scaled down to it.
\newsavebox{\heedbox}
\newcommand{\heedfit}[1]{\sbox{\heedbox}{#1}\ifdim\wd\heedbox>\linewidth
  \resizebox{\linewidth}{!}{\usebox{\heedbox}}\else\usebox{\heedbox}\fi}
\pgfplotsset{compat=1.16}
\emergencystretch=3em
% Colours that people with any kind of colour vision tell apart: Okabe and Ito, 2008.
\definecolor{heedblue}{HTML}{0072B2}
\definecolor{heedvermillion}{HTML}{D55E00}
\definecolor{heedgreen}{HTML}{009E73}
\definecolor{heedpurple}{HTML}{CC79A7}
\definecolor{heedorange}{HTML}{E69F00}
\definecolor{heedsky}{HTML}{56B4E9}
\definecolor{heedgrey}{HTML}{777777}
)tex";

std::string answers(const ReportData& report) {
  std::string items;
  const auto add = [&](const std::string& sentence) {
    items += fmt::format("  \\item {}\n", latex_text(with_capitals(sentence)));
  };
  std::ranges::for_each(limit_sentences(report), add);
  std::ranges::for_each(sentences_over_tasks(report), add);
  const TableDigits digits(report);
  for (const ReportArm& arm : report.arms)
    if (arm.comparison || !missing_answer(arm).empty()) add(answer_sentence(report, arm, digits));
  std::ranges::for_each(interaction_sentences(report), add);
  return items.empty() ? "" : "\\begin{itemize}\n" + items + "\\end{itemize}\n";
}

const std::map<std::uint32_t, std::string_view>& commands() {
  // clang-format off
  static const std::map<std::uint32_t, std::string_view> table{
      {'\\', "\\textbackslash{}"}, {'{', "\\{"}, {'}', "\\}"}, {'$', "\\$"}, {'&', "\\&"}, {'#', "\\#"}, {'_', "\\_"},
      {'%', "\\%"}, {'^', "\\textasciicircum{}"}, {'~', "\\textasciitilde{}"}, {'<', "\\textless{}"},
      {'>', "\\textgreater{}"}, {'|', "\\textbar{}"}, {'\n', " "}, {'\t', " "},
      {'[', "{[}"}, {']', "{]}"}, {'*', "{*}"}, {'`', "\\textasciigrave{}"},
      {0xA0, "~"}, {0xB0, "$^\\circ$"}, {0xB1, "$\\pm$"}, {0xB2, "$^2$"}, {0xB3, "$^3$"}, {0xB5, "$\\mu$"},
      {0xB7, "$\\cdot$"}, {0xD7, "$\\times$"}, {0xF7, "$\\div$"}, {0x3B1, "$\\alpha$"}, {0x3B2, "$\\beta$"},
      {0x3B3, "$\\gamma$"}, {0x3B4, "$\\delta$"}, {0x3B5, "$\\varepsilon$"}, {0x3B7, "$\\eta$"}, {0x3B8, "$\\theta$"},
      {0x3BB, "$\\lambda$"}, {0x3BC, "$\\mu$"}, {0x3C0, "$\\pi$"}, {0x3C1, "$\\rho$"}, {0x3C3, "$\\sigma$"},
      {0x3C4, "$\\tau$"}, {0x3C6, "$\\varphi$"}, {0x2013, "--"}, {0x2014, "---"}, {0x2018, "`"}, {0x2019, "'"},
      {0x201C, "``"}, {0x201D, "''"}, {0x2026, "\\ldots{}"}, {0x2192, "$\\rightarrow$"}, {0x2212, "$-$"},
      {0x221A, "$\\surd$"}, {0x221E, "$\\infty$"}, {0x2260, "$\\neq$"}, {0x2264, "$\\leq$"}, {0x2265, "$\\geq$"}};
  // clang-format on
  return table;
}

/// Whether a hyphen between this character and a digit is a minus sign, not part of a date, a range or 1e-05.
bool is_before_sign(char c) { return std::string_view(" ([,=").find(c) != std::string_view::npos; }

/// Whether a quotation mark opens a quotation: at the beginning, and after a blank or an opening bracket.
bool opens(std::string_view text, const char* mark) {
  return mark == text.data() || std::string_view(" ([{\n\t").find(mark[-1]) != std::string_view::npos;
}

/// Accented letters that fonts with the encoding T1 contain.
bool is_accented(char32_t c) {
  return c >= 0xC0 && c <= 0x17E && c != 0x126 && c != 0x127 && c != 0x138 && c != 0x13F && c != 0x140 && c != 0x149 &&
         c != 0x166 && c != 0x167;
}

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

std::string latex_maths(const std::string& text) {
  constexpr std::string_view digits = "0123456789", infinity = "∞";
  std::string out = "$";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t power = std::min(text.find("e-", at), text.find("e+", at));
    out += text.substr(at, power - at);
    if (power == std::string::npos) break;
    at = std::min(text.find_first_not_of(digits, power + 2), text.size());
    out += fmt::format("\\cdot10^{{{}}}", std::stoi(text.substr(power + 1, at - power - 1)));
  }
  for (std::size_t at = 0; (at = out.find(infinity, at)) != std::string::npos;)
    out.replace(at, infinity.size(), "\\infty");
  return out + "$";
}

std::string latex_label(const ReportData& report, const std::string& kind, const std::string& what) {
  return fmt::format("{}:{}", kind, slug(report.name + "-" + what, ""));
}

std::size_t longest_name(const ReportData& report) {
  std::size_t longest = 0;
  for (const ReportArm& arm : report.arms) longest = std::max(longest, arm.short_label().size());
  return longest;
}

std::string render_latex(const ReportData& report) {
  std::string body = fmt::format("\\begin{{document}}\n\\section*{{\\raggedright {}}}\n",
                                 latex_title(report.question.empty() ? report.name : report.question));
  for (const std::string& warning : provenance_warnings(report))
    body += fmt::format("\n\\noindent\\textbf{{{}}}\\par\n", latex_text(warning));
  if (report.count(RunState::failed) > 0)
    body += fmt::format("\n\\noindent {}.\\par\n", latex_text(progress_sentence(report)));
  const bool single = report.arms.size() == 1;
  for (const std::string& part : {answers(report), single ? latex_single(report) : latex_table(report, true)})
    if (!part.empty()) body += "\n" + part;
  constexpr int most_waiting = 6; // LaTeX can hold only few floats that have no page yet
  int lines = 0;
  std::string at_end;
  for (const document::Figure& figure : report_figures(report)) {
    if (figure.second) continue;
    const bool of_table = figure.kind != document::Figure::Kind::lines;
    if (!of_table && lines > 0 && lines % most_waiting == 0) at_end += "\\clearpage\n";
    if (!of_table) ++lines;
    (of_table ? body : at_end) += "\n" + latex_figure(report, figure);
  }
  const auto add_further = [&](std::size_t, const ReportData& further) {
    body += fmt::format("\n\\paragraph{{{}}} {}\n{}\n{}", latex_text(with_capitals(further.metric.shown())),
                        latex_text(with_capitals(further_note(further.metric, report.asks_not_worse()))),
                        answers(further), latex_table(further, false));
  };
  if (!single) each_further_metric(report, add_further);
  body += variance_latex(report);
  body += at_end + "\n\\end{document}\n";

  std::string out = fmt::format("% {} (heed {}), {}\n", latex_text(report.name), report.table ? "compare" : "report",
                                progress_sentence(report));
  out += for_papers;
  const bool letters = body.find("\\heedletter{") != std::string::npos;
  if (letters)
    out += "% It has letters that pdflatex lacks, which shows their numbers: [U+4E2D]. xelatex and lualatex show those "
           "that\n% the font has: name one with \\setmainfont below.\n";
  out.append(head).append(latex_letters);
  if (letters) out += "% \\ifheedunicode\\setmainfont{DejaVu Serif}\\fi\n";
  return out.append(preamble) + body;
}

const std::string_view latex_letters = R"tex(\newif\ifheedunicode
\ifdefined\XeTeXversion\heedunicodetrue\fi
\ifdefined\directlua\heedunicodetrue\fi
\ifheedunicode\usepackage{fontspec}\else\usepackage[T1]{fontenc}\usepackage{textcomp}%
  \IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}\fi
\newcommand*{\heednumber}[1]{{[}U+#1{]}}
\DeclareRobustCommand*{\heedletter}[1]{\ifheedunicode\iffontchar\font"#1 \symbol{"#1}\else\heednumber{#1}\fi%
  \else\heednumber{#1}\fi}
)tex";

std::string latex_text(std::string_view text) {
  std::string out;
  for (const char *p = text.data(), *end = p + text.size(); p != end;) {
    char32_t point = 0;
    const std::size_t size = decode_utf8(p, end, point);
    const auto command = commands().find(static_cast<std::uint32_t>(point));
    if (size == 0) out += "\\heedletter{FFFD}";
    else if (point == U'"') out += opens(text, p) ? "``" : "''";
    else if ((point == U'<' || point == U'>') && p + 1 != end && p[1] == '=') {
      out += point == U'<' ? "$\\leq$" : "$\\geq$";
      ++p; // the equals sign
    } else if (point == U' ' && !out.empty() && is_digit(out.back()) && p + 1 != end && p[1] == '%') out += "\\,";
    else if (command != commands().end()) out += command->second;
    else if (point == U'-' && p + 1 != end && is_digit(p[1]) && (p == text.data() || is_before_sign(p[-1])))
      out += "$-$";                                             // of a negative number
    else if (point == U'-' && out.ends_with('-')) out += "{}-"; // two hyphens would become a dash
    else if (point == U',' && out.ends_with(',')) out += "{},"; // two commas would become a quotation mark
    else if ((point >= 0x20 && point < 0x7F) || is_accented(point)) out.append(p, size);
    else if (is_command(point)) out += fmt::format("{{[}}U+{:04X}{{]}}", static_cast<std::uint32_t>(point));
    else out += fmt::format("\\heedletter{{{:04X}}}", static_cast<std::uint32_t>(point));
    p += std::max<std::size_t>(size, 1);
  }
  return out;
}

std::string latex_title(std::string_view text) {
  constexpr std::size_t long_word = 24, part = 12;
  std::string out;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, size);
    while (word.size() > long_word) {
      std::size_t cut = std::min(word.find_last_of("_-/.,:=+", long_word - 2) + 1, word.size()); // npos + 1 is 0
      if (cut < part / 2) cut = part;
      while (cut < word.size() && (static_cast<unsigned char>(word[cut]) & 0xC0) == 0x80) ++cut; // within a letter
      out += latex_text(word.substr(0, cut)) + "\\allowbreak{}";
      word.remove_prefix(cut);
    }
    out += latex_text(word);
    text.remove_prefix(size);
    if (!text.empty()) {
      out += ' ';
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string with_capitals(std::string text) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool abbreviated = at > 3 && text[at - 4] == '.' && is_small(text[at - 3]); // "e.g. "
    const bool begins = at == 0 || (at > 1 && text.compare(at - 2, 2, ". ") == 0 && !abbreviated);
    if (!begins || !is_small(text[at])) continue;
    std::size_t end = at;
    while (end < text.size() && (is_small(text[end]) || text[end] == '-')) ++end;
    const bool is_word = end - at > 1 && (end == text.size() || std::string_view(" ,:;.").find(text[end]) != text.npos);
    const bool is_option = end + 1 < text.size() && text[end] == '.' && text[end + 1] != ' ';
    if (is_word && !is_option) text[at] = static_cast<char>(text[at] - 'a' + 'A');
  }
  return text;
}

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
