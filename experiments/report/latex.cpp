// Writes the report as a LaTeX document for pdflatex, lualatex or xelatex: answers, table, figures. Each part can be
// copied into another document.
#include "experiments/report/latex.hpp"
#include "experiments/report/latex_parts.hpp"
#include "experiments/report/notes.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/figures.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/provenance.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/runs/names.hpp"

#include <algorithm>
#include <fmt/format.h>
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
  const TableDigits digits(report);
  for (const ReportArm& arm : report.arms)
    if (arm.comparison || !missing_answer(arm).empty()) add(answer_sentence(report, arm, digits));
  std::ranges::for_each(interaction_sentences(report), add);
  return items.empty() ? "" : "\\begin{itemize}\n" + items + "\\end{itemize}\n";
}

} // namespace

std::string latex_maths(const std::string& text) {
  constexpr std::string_view digits = "0123456789";
  std::string out = "$";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t power = std::min(text.find("e-", at), text.find("e+", at));
    out += text.substr(at, power - at);
    if (power == std::string::npos) break;
    at = std::min(text.find_first_not_of(digits, power + 2), text.size());
    out += fmt::format("\\cdot10^{{{}}}", std::stoi(text.substr(power + 1, at - power - 1)));
  }
  return out + "$";
}

std::string latex_label(const ReportData& report, const std::string& kind, const std::string& what) {
  return fmt::format("{}:{}", kind, slug(report.name + "-" + what, ""));
}

std::size_t longest_name(const ReportData& report) {
  std::size_t longest = 0;
  for (const ReportArm& arm : report.arms)
    longest = std::max(longest, (arm.name.empty() ? arm.label : arm.name).size());
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
    const bool of_table = figure.kind == document::Figure::Kind::differences;
    if (!of_table && lines > 0 && lines % most_waiting == 0) at_end += "\\clearpage\n";
    if (!of_table) ++lines;
    (of_table ? body : at_end) += "\n" + latex_figure(report, figure);
  }
  const auto add_further = [&](std::size_t, const ReportData& further) {
    body += fmt::format("\n\\paragraph{{{}}} {}\n{}\n{}", latex_text(with_capitals(further.metric.shown())),
                        latex_text(with_capitals(further_note(further.metric))), answers(further),
                        latex_table(further, false));
  };
  if (!single) each_further_metric(report, add_further);
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

} // namespace heed
