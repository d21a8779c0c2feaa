// The report as LaTeX. That it compiles is for a machine with LaTeX to say; here is what it says, and that no name in
// it can be taken for a command.
#include "experiments/report/latex.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/awkward_report.hpp"

#include <algorithm>
#include <string>

using namespace heed;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

long count(const std::string& text, char c) { return std::count(text.begin(), text.end(), c); }

} // namespace

TEST_CASE("signs that mean something to LaTeX are escaped", "[report]") {
  CHECK(latex_text("a_b & 50 % of #1 {x} $y$") == "a\\_b \\& 50 \\% of \\#1 \\{x\\} \\$y\\$");
  CHECK(latex_text("\\input{x}") == "\\textbackslash{}input\\{x\\}");
  CHECK(latex_text("x^2 ~ <y> | \"z\"") ==
        "x\\textasciicircum{}2 \\textasciitilde{} \\textless{}y\\textgreater{} \\textbar{} "
        "\\textquotedbl{}z\\textquotedbl{}");
}

TEST_CASE("letters with accents stay; signs become commands, and what no font may have its number", "[report]") {
  CHECK(latex_text("Zoë, Łódź") == "Zoë, Łódź");
  CHECK(latex_text("±2 × α – …") == "$\\pm$2 $\\times$ $\\alpha$ -- \\ldots{}");
  CHECK(latex_text("中 \xF0\x9F\x99\x82") == "[U+4E2D] [U+1F642]");
}

TEST_CASE("bytes that are no UTF-8 are shown as what they are, and nothing is read past the end", "[report]") {
  CHECK(latex_text("a\xFFz") == "a[U+FFFD]z");
  CHECK(latex_text("a\xE4\xB8") == "a[U+FFFD][U+FFFD]");
}

TEST_CASE("the document has the question, the answers, the table and both figures", "[report]") {
  ReportData report = awkward_report();
  report.arms[1].comparison->answer = statistics::Answer::differs;  // which three seeds can't show
  const std::string text = render_latex(report);
  CHECK(contains(text, "\\section*{Is a\\_b 50 \\% of \\textquotedbl{}c\\textquotedbl{} \\& d?}"));
  CHECK(contains(text, "\\toprule"));
  CHECK(contains(text, "reference & 3 & $1.10 \\pm 0.10$ &  &  & 103,424 & 4.0 s \\\\"));
  CHECK(contains(text, "$+0.300\\;[+0.275, +0.325]$"));
  CHECK(contains(text, "(0.3"));
  CHECK(contains(text, "\\addlegendentry{partly}"));
  CHECK(contains(text, "color=heedvermillion, mark=square*"));
  CHECK_FALSE(contains(text, awkward_label));
  CHECK(count(text, '{') - count(text, '}') == 0);
}

TEST_CASE("where nothing is compared and nothing was evaluated there are no figures", "[report]") {
  ReportData report = awkward_report();
  report.arms.resize(1);
  for (ReportRun& run : report.arms[0].runs) run.curve.clear();
  compute_statistics(report);
  const std::string text = render_latex(report);
  CHECK(contains(text, "\\begin{tabular}"));
  CHECK_FALSE(contains(text, "\\begin{axis}"));
}
