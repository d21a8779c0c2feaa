// Tests of the report as LaTeX: its content, and that no name in it is read as a LaTeX command. No test here compiles
// it.
#include "experiments/report/latex.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/experiments/report/awkward_report.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace heed;
using test::contains;

namespace {

long count(const std::string& text, char c) { return std::count(text.begin(), text.end(), c); }

} // namespace

TEST_CASE("signs that mean something to LaTeX are escaped", "[report]") {
  CHECK(latex_text("a_b & 50 % of #1 {x} $y$") == "a\\_b \\& 50\\,\\% of \\#1 \\{x\\} \\$y\\$");
  CHECK(latex_text("\\input{x}") == "\\textbackslash{}input\\{x\\}");
  CHECK(latex_text("x^2 ~ <y> | z") ==
        "x\\textasciicircum{}2 \\textasciitilde{} \\textless{}y\\textgreater{} \\textbar{} z");
}

TEST_CASE("quotations have typographic marks, and comparisons one sign", "[report]") {
  CHECK(latex_text("\"z\" is (\"a b\"), \"c\".") == "``z'' is (``a b''), ``c''.");
  CHECK(latex_text("p <= 0.1, x >= 2, a < b = c <=") == "p $\\leq$ 0.1, x $\\geq$ 2, a \\textless{} b = c $\\leq$");
}

TEST_CASE("long words of a heading can be broken, and short ones are not", "[report]") {
  CHECK(latex_title("Which score? a_b \"c\"") == "Which score? a\\_b ``c''");
  CHECK(latex_title("which_position_is_the_best_one x") == "which\\_position\\_is\\_the\\_\\allowbreak{}best\\_one x");
  const std::string plain(60, 'x');
  CHECK(contains(latex_title(plain), "xxxxxxxxxxxx\\allowbreak{}xxxxxxxxxxxx\\allowbreak{}"));
  CHECK_FALSE(contains(latex_title("ééééééééééééééééééééééé"), "FFFD"));
}

TEST_CASE("letters with accents stay; signs become commands, and what no font may have its number", "[report]") {
  CHECK(latex_text("Zoë, Łódź") == "Zoë, Łódź");
  CHECK(latex_text("±2 × α – …") == "$\\pm$2 $\\times$ $\\alpha$ -- \\ldots{}");
  CHECK(latex_text("中 \xF0\x9F\x99\x82 Ħ") == "\\heedletter{4E2D} \\heedletter{1F642} \\heedletter{0126}");
  CHECK(latex_text("\x1b\r\u202e") == "{[}U+001B{]}{[}U+000D{]}{[}U+202E{]}");
}

TEST_CASE("what begins a row or an item is no option of it, and two signs are no other one", "[report]") {
  CHECK(latex_text("[0.1] *b") == "{[}0.1{]} {*}b");
  CHECK(latex_text("---a ,,b `c`") == "-{}-{}-a ,{},b \\textasciigrave{}c\\textasciigrave{}");
}

TEST_CASE("negative numbers have minus signs, and dates, ranges and words their hyphens", "[report]") {
  CHECK(latex_text("-0.5 nats [-1, -0.2], x = -3 (-4)") == "$-$0.5 nats {[}$-$1, $-$0.2{]}, x = $-$3 ($-$4)");
  CHECK(latex_text("2026-11-27, 13-24, 1e-05, pre-2, max-t, - 1") == "2026-11-27, 13-24, 1e-05, pre-2, max-t, - 1");
}

TEST_CASE("sentences begin with capitals, and names of options stay", "[report]") {
  CHECK(with_capitals("position = none gains. pre-norm is the same, e.g. here. p = 0.3. the end.") ==
        "Position = none gains. Pre-norm is the same, e.g. here. p = 0.3. The end.");
  for (const std::string text : {"val_loss: the mean", "train.steps is 3", "Éa", "d2 is", "", "a"})
    CHECK(with_capitals(text) == text);
  ReportData report = awkward_report();
  report.arms[1].label = report.arms[1].name = "bias = -1";
  const std::string text = render_latex(report);
  CHECK(contains(text, "\\item Bias = $-$1 is underpowered"));
  CHECK(contains(text, "    bias = $-$1 & 3 & "));
}

TEST_CASE("a document says which engine its letters need", "[report]") {
  ReportData report = awkward_report();
  CHECK_FALSE(contains(render_latex(report), "pdflatex lacks"));
  CHECK(contains(render_latex(report), "\\newcommand*{\\heednumber}"));
  report.arms[1].label = "[大] \U0001F642";
  const std::string text = render_latex(report);
  CHECK(contains(text.substr(0, text.find("\\documentclass")), "letters that pdflatex lacks"));
  CHECK(contains(text, "    {[}\\heedletter{5927}{]} \\heedletter{1F642} & 3 &"));
  CHECK(std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

TEST_CASE("a document says what a paper that copies its parts needs", "[report]") {
  const std::string text = render_latex(awkward_report());
  const std::string top = text.substr(0, text.find("\\documentclass"));
  for (const char* package : {"booktabs", "array", "pgfplots", "lmodern"})
    CHECK(contains(top, std::string("\\usepackage{") + package + "}"));
  CHECK(contains(top, "\\usepackage[T1]{fontenc}"));
}

TEST_CASE("a line of up to 20 points has a mark at each", "[report]") {
  ReportData report = awkward_report();
  const auto marked = [&](std::int64_t points) {
    for (ReportRun& run : report.arms[0].runs) {
      run.curve.clear();
      for (std::int64_t step = 1; step <= points; ++step) run.curve.push_back({step, 1.0});
    }
    return render_latex(report);
  };
  CHECK(contains(marked(20), "mark repeat=1, mark phase=1,"));
  CHECK(contains(marked(42), "mark repeat=7, mark phase=1,"));
}

TEST_CASE("bytes that are no UTF-8 are shown as what they are, and nothing is read past the end", "[report]") {
  CHECK(latex_text("a\xFFz") == "a\\heedletter{FFFD}z");
  CHECK(latex_text("a\xE4\xB8") == "a\\heedletter{FFFD}\\heedletter{FFFD}");
}

TEST_CASE("the document has the question, the answers, the table and both figures", "[report]") {
  ReportData report = awkward_report();
  report.arms[1].comparison->answer = statistics::Answer::differs; // three seeds cannot show this
  report.arms[1].comparison->interval = statistics::Interval{0.275, 0.3253};
  CHECK_FALSE(contains(render_latex(awkward_report()), " intervals")); // three seeds have none
  const std::string text = render_latex(report);
  CHECK(contains(text, "with simultaneous 95\\,\\% intervals by sign flips"));
  CHECK(contains(text, "\\section*{\\raggedright Is a\\_b 50 \\% of ``c'' \\& d?}"));
  CHECK(contains(text, "\\toprule"));
  CHECK(contains(text, "reference & 3 & $1.10 \\pm 0.10$ &  &  &  & 103,424 & 4.0 s \\\\"));
  CHECK(contains(text, "$+0.300\\;[+0.275, +0.325]$"));
  CHECK(contains(text, "(0.3"));
  CHECK(contains(text, "\\addlegendentry{partly}"));
  CHECK(contains(text, "color=heedvermillion, mark=square*"));
  CHECK_FALSE(contains(text, awkward_label));
  CHECK(count(text, '{') - count(text, '}') == 0);
}

namespace {

/// Two groups of two arms each. The second arm of each group is worse by 0.3.
ReportData grouped_report() {
  ReportData report = awkward_report();
  report.within = {{"task.copy.length", "length"}};
  report.arms.pop_back();
  report.arms[1].label = "score = dot";
  for (std::size_t i = 0; i < 2; ++i) report.arms.push_back(report.arms[i]);
  for (std::size_t i = 0; i < 4; ++i) {
    ReportArm& arm = report.arms[i];
    arm.name = arm.label;
    arm.group = {i < 2 ? "8" : "64"};
    arm.label = "length = " + arm.group[0] + ": " + arm.name;
    arm.reference = i < 2 ? 0 : 2;
  }
  compute_statistics(report);
  return report;
}

/// The text after `name=`, up to the next character that ends a number.
double number_after(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name + "=");
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + name.size() + 1));
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The labels of an axis: the text between its braces, by tick.
std::vector<std::string> labels_of(const std::string& text, const std::string& key) {
  const std::size_t begin = text.find(key + "={");
  REQUIRE(begin != std::string::npos);
  std::vector<std::string> labels;
  for (std::size_t at = begin + key.size() + 2; text[at] == '{' || text[at] == ',';) {
    at += text[at] == ',' ? 2 : 1;
    std::size_t end = at;
    for (int open = 1; (open += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0) > 0;) ++end;
    labels.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return labels;
}

/// The text in the braces of the first \\caption.
std::string caption_of(const std::string& text) {
  const std::size_t begin = text.find("\\caption{") + 9;
  return text.substr(begin, text.find('}', begin) - begin);
}

} // namespace

TEST_CASE("the table has each arm's answer, and what its words mean is a note beneath it", "[report]") {
  ReportData report = awkward_report();
  report.arms[1].comparison->answer = statistics::Answer::differs;
  const std::string text = render_latex(report);
  CHECK(contains(text, "& $p$ & answer & parameters & time"));
  CHECK(contains(text, "& worse & 103,424 &"));
  CHECK(contains(text, "& underpowered & 103,424 &"));
  CHECK(contains(text, "p is at most 0.05"));
  CHECK(caption_of(text).size() < 180);
  CHECK_FALSE(contains(caption_of(text), "answer"));
  CHECK(text.find("\\emph{answer}") < text.find("\\end{table}"));
}

TEST_CASE("tables and figures have labels, and break long names into lines", "[report]") {
  ReportData report = awkward_report();
  report.name = "a 50 % sweep";
  for (ReportArm& arm : report.arms) arm.label = arm.label.substr(0, 4);
  const std::string text = render_latex(report);
  for (const char* label : {"\\label{tab:a-50-sweep-val-loss}", "\\label{fig:a-50-sweep-differences}",
                            "\\label{fig:a-50-sweep-val-loss-by-step}"})
    CHECK(contains(text, label));
  CHECK(contains(text, "\\begin{tabular}{l"));
  CHECK(contains(text, "anchor=north west"));
  report.arms[1].label = "a name that is much longer than the names of most arms";
  const std::string long_names = render_latex(report);
  CHECK(contains(long_names, "p{0.24\\linewidth}"));
  CHECK(contains(long_names, "legend columns=1"));
  CHECK(contains(long_names, "text width=0.3\\linewidth"));
}

TEST_CASE("groups have headings and rules in the table, and a figure of curves each", "[report]") {
  const std::string text = render_latex(grouped_report());
  CHECK(times(text, "\\midrule") == 2);
  CHECK(contains(text, "\\multicolumn{8}{l}{\\emph{length = 8}} \\\\\n    reference & 3 &"));
  CHECK(contains(text, "\\multicolumn{8}{l}{\\emph{length = 64}} \\\\\n    reference & 3 &"));
  CHECK(times(text, "\n    score = dot & 3 &") == 2);
  CHECK(times(text, "xlabel={step}") == 2);
  CHECK(contains(text, "\\caption{length = 64: val\\_loss by training step"));
  CHECK(times(text, "\\addlegendentry{score = dot}") == 2);
  CHECK(times(render_latex(awkward_report()), "xlabel={step}") == 1);
}

TEST_CASE("0 is always on the axis of differences", "[report]") {
  ReportData report = awkward_report();
  report.margin.reset();
  compute_statistics(report);
  report.arms.pop_back(); // all remaining values are above 0
  report.arms[1].comparison->interval = statistics::Interval{0.1, 0.7};
  const std::string text = render_latex(report);
  CHECK(contains(text, "+= (0.4, 0) -= (0.2, 0)"));
  CHECK(number_after(text, "xmin") <= 0);
  CHECK(number_after(text, "xmax") >= 0.7);
  report.metric.direction = Direction::higher;
  std::swap(report.arms[0].runs, report.arms[1].runs); // now they are below
  compute_statistics(report);
  report.arms[1].comparison->interval = statistics::Interval{-0.7, -0.1};
  const std::string below = render_latex(report);
  CHECK(number_after(below, "xmin") <= -0.7);
  CHECK(number_after(below, "xmax") >= 0);
}

TEST_CASE("ticks of differences and of curves are distinct, with as few decimals as tell them apart", "[report]") {
  // An interval from -0.5 to 4.5 times this value.
  const auto differing_by = [](double unit) {
    ReportData report = awkward_report();
    report.margin.reset();
    report.arms.pop_back();
    for (std::size_t i = 0; i < 3; ++i) {
      report.arms[1].runs[i].value = *report.arms[0].runs[i].value + unit * static_cast<double>(i + 1);
      for (std::size_t a = 0; a < 2; ++a) report.arms[a].runs[i].curve = {{1, 2 * unit}, {2, unit}};
    }
    compute_statistics(report);
    report.arms[1].comparison->interval = statistics::Interval{std::min(-0.5 * unit, 4.5 * unit),
                                                               std::max(-0.5 * unit, 4.5 * unit)};
    return render_latex(report);
  };
  using Labels = std::vector<std::string>;
  CHECK(labels_of(differing_by(0.006), "xticklabels") ==
        Labels{"$0.000$", "$0.005$", "$0.010$", "$0.015$", "$0.020$", "$0.025$"});
  CHECK(labels_of(differing_by(1), "xticklabels") == Labels{"$0$", "$1$", "$2$", "$3$", "$4$"});
  CHECK(labels_of(differing_by(-100), "xticklabels") == Labels{"$-400$", "$-300$", "$-200$", "$-100$", "$0$"});
  for (const double unit : {1e-9, 3e-6, 0.00033, 0.005, 0.0071, 0.02, 1.0 / 3, 7.0, 12345.0}) {
    INFO(unit);
    const std::string text = differing_by(unit);
    const std::string curves = text.substr(text.find("xlabel={step}"));
    for (const Labels& labels : {labels_of(text, "xticklabels"), labels_of(curves, "yticklabels")}) {
      CHECK(labels.size() >= 3);
      CHECK(labels.size() <= 9);
      CHECK(std::set<std::string>(labels.begin(), labels.end()).size() == labels.size());
      for (const std::string& label : labels) CHECK(label.size() <= 9);
    }
  }
  CHECK(contains(differing_by(1e-9), "val\\_loss (nats), times $10^{-9}$}"));
}

TEST_CASE("curves lie above all bands, and each has a mark of its own", "[report]") {
  const std::string text = render_latex(awkward_report());
  CHECK(text.rfind("forget plot") < text.find("\\addlegendentry"));
  CHECK(contains(text, "black, solid, thick, mark=*,"));
  CHECK(contains(text, "heedblue, solid, thick, mark=square*,"));
  CHECK(contains(text, "heedvermillion, solid, thick, mark=triangle*,"));
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
