// Tests of the report in every format, from made-up runs.
#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/report/text_table.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/experiments/report/awkward_report.hpp"
#include "tests/experiments/report/made_up_sweep.hpp"

#include <map>
#include <regex>
#include <sstream>
#include <string>

using namespace heed;
using test::contains;
using test::note;

namespace {

ReportRun failed(std::int64_t seed, const std::string& why) {
  ReportRun run = finished_run(seed, 0);
  run.state = RunState::failed;
  run.value.reset();
  run.curve.clear();
  run.problem = why;
  return run;
}

ReportArm arm(const std::string& label, std::vector<ReportRun> runs) {
  ReportArm out;
  out.label = label;
  if (label != "reference") out.changes = {{"attention.score", label}};
  out.runs = std::move(runs);
  out.cost = PlannedCost{.parameters = 103424, .flops_per_step = 2.5e9, .bytes = 20e6};
  return out;
}

ReportData made_up() {
  ReportData report;
  report.name = "which score";
  report.sweep = true;
  report.metric = {"val_loss", Direction::lower, "nats", "cross-entropy of the validation split"};
  report.folder = "runs/sweeps/which-score-0123456789ab";
  report.seeds = {0, 1, 2};
  report.arms = {arm("reference", {finished_run(0, 1.00), finished_run(1, 1.10), finished_run(2, 1.20)}),
                 arm("worse", {finished_run(0, 1.30), finished_run(1, 1.41), finished_run(2, 1.49)}),
                 arm("partly", {finished_run(0, 0.90), failed(1, "NaN loss at step 17"), finished_run(2, 1.10)})};
  report.reference_config = "name = \"which score\"\n";
  compute_statistics(report);
  return report;
}

/// Six seeds: the arm `worse` is worse by 0.30, 0.31, 0.29, ...; the arm `alike` differs by 0.012, -0.008, ...
ReportData six_seeds() {
  ReportData report = made_up();
  report.seeds = {0, 1, 2, 3, 4, 5};
  std::vector<ReportRun> reference, worse, alike;
  const std::vector<double> values{1.00, 1.10, 1.20, 1.05, 0.95, 1.15}, costs{0.30, 0.31, 0.29, 0.31, 0.29, 0.31},
      noise{0.012, -0.008, 0.010, -0.013, 0.006, -0.009};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto seed = static_cast<std::int64_t>(i);
    reference.push_back(finished_run(seed, values[i]));
    worse.push_back(finished_run(seed, values[i] + costs[i]));
    alike.push_back(finished_run(seed, values[i] + noise[i]));
  }
  report.arms = {arm("reference", reference), arm("worse", worse), arm("alike", alike)};
  compute_statistics(report);
  return report;
}

} // namespace

TEST_CASE("an arm's mean and spread are over its seeds", "[report]") {
  const ReportData report = made_up();
  CHECK(report.arms[0].values == 3);
  CHECK(*report.arms[0].mean == Approx(1.1));
  CHECK(*report.arms[0].standard_deviation == Approx(0.1));
  CHECK(*report.arms[0].interquartile_mean == Approx(1.1));
  CHECK_FALSE(report.arms[0].comparison);
}

TEST_CASE("an arm that diverged takes no decimals from the others, in any format", "[report]") {
  ReportData report = six_seeds();
  const std::vector<double> lost{19000.0, 41000.0, 9000.0, 22000.0, 30000.0, 5000.0};
  for (std::size_t i = 0; i < lost.size(); ++i) report.arms[1].runs[i].value = lost[i];
  compute_statistics(report);
  const std::string latex = render_latex(report), markdown = render_markdown(report), html = render_html(report);
  for (const std::string* text : {&latex, &markdown}) {
    CHECK(contains(*text, text == &latex ? "1.075 \\pm 0.094" : "1.075 ± 0.094")); // the standard deviation is 0.0935
    CHECK(contains(*text, text == &latex ? "21000 \\pm 13312" : "21000 ± 13312"));
    CHECK(contains(*text, "[-0.0")); // of the arm `alike`
  }
  const TableDigits digits(report);
  CHECK(digits.of(report.arms[0]).value == 3);
  CHECK(digits.of(report.arms[1]).value == 0);
  CHECK(digits.of(report.arms[1]).difference == 0);
  CHECK(contains(html, R"("digits":{"value":0,"difference":0})"));
}

TEST_CASE("an end at zero of a difference that is found is outside of its interval", "[report]") {
  statistics::Comparison c;
  c.difference.mean = 0.05;
  c.interval = statistics::Interval{0, 0.115};
  c.p = 0.04;
  CHECK(interval_text(c, 3, true) == "(0.000, +0.115]");
  CHECK(interval_text(c, 3, false, true) == "[-0.115, 0.000)");
  c.p = 0.06;
  CHECK(interval_text(c, 3, true) == "[0.000, +0.115]");
  c.interval = statistics::Interval{-0.1, 0.2};
  c.p = 0.04;
  CHECK(interval_text(c, 1, true) == "[-0.1, +0.2]");
}

TEST_CASE("a spread that is rounding is none", "[report]") {
  ReportData report = six_seeds();
  report.resolution = 0x1p-23;
  for (ReportRun& run : report.arms[1].runs) run.value = 2 + 1e-8 * static_cast<double>(run.seed);
  compute_statistics(report);
  CHECK(report.arms[1].standard_deviation == 0);
  CHECK(report.arms[0].standard_deviation > 0.05);
  CHECK_FALSE(note(report, "spreads"));
}

TEST_CASE("differences are paired by seed", "[report]") {
  // 0.30, 0.31, 0.29: mean 0.30, sd 0.01. t(2, 0.975) = 4.302653, so the half width is 4.302653 * 0.01 / sqrt(3).
  const ReportData report = made_up();
  const auto& d = report.arms[1].comparison->difference;
  CHECK(d.pairs == 3);
  CHECK(d.mean == Approx(0.30));
  REQUIRE(d.interval);
  CHECK(d.interval->low == Approx(0.2751586).epsilon(1e-6));
  CHECK(d.interval->high == Approx(0.3248414).epsilon(1e-6));
}

TEST_CASE("a seed that failed in one arm leaves its pair out", "[report]") {
  const ReportData report = made_up();
  CHECK(report.arms[2].values == 2);
  CHECK(report.arms[2].comparison->difference.pairs == 2);
  CHECK(report.arms[2].comparison->difference.mean == Approx(-0.1));
  CHECK(report.arms[2].comparison->seeds == std::vector<std::int64_t>{0, 2});
}

TEST_CASE("pairs follow the seed, not the order of the runs", "[report]") {
  ReportData report = made_up();
  std::swap(report.arms[1].runs[0], report.arms[1].runs[2]);
  compute_statistics(report);
  CHECK(report.arms[1].comparison->difference.mean == Approx(0.30));
  CHECK(*report.arms[1].comparison->difference.standard_deviation == Approx(0.01));
}

TEST_CASE("the terminal's report has a line for each arm, and every failure", "[report]") {
  const std::string text = render_terminal(made_up(), Style{});
  CHECK(contains(text, "which score  8 of 9 runs finished, 1 failed"));
  CHECK(contains(text, "1.10 ± 0.10"));
  CHECK(contains(text, "+0.300"));
  CHECK(contains(text, "103,424"));
  CHECK(contains(text, "partly, seed 1 (run 0000000000000011): NaN loss at step 17"));
  CHECK(contains(text, "lower is better"));
  CHECK_FALSE(contains(text, "\033"));
}

TEST_CASE("the terminal's report is no wider than the terminal", "[report]") {
  ReportData report = six_seeds();
  report.question = "Which of these scores is it that a model of this size takes, when all of them cost the same?";
  const std::string wide = render_terminal(report, Style{});
  CHECK(contains(wide, "\n" + report.question + "\n"));
  for (const std::size_t width : std::vector<std::size_t>{60, 80, 120}) {
    INFO(width);
    const std::string text = render_terminal(report, Style{}, width);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK(display_width(line) <= width);
    }
    // Nothing is lost: each word occurs equally often, except in the first column, which every part of the table
    // repeats.
    std::map<std::string, int> before, after;
    const auto count_words = [](const std::string& whole, std::map<std::string, int>& counts) {
      std::istringstream words(whole);
      for (std::string word; words >> word;) ++counts[word];
    };
    count_words(wide, before);
    count_words(text, after);
    for (const auto& [word, n] : before) CHECK(after[word] >= n);
  }
}

TEST_CASE("colour marks the better and the worse side, whichever that is", "[report]") {
  Style colour;
  colour.colour = true;
  ReportData report = six_seeds();
  CHECK(contains(render_terminal(report, colour), "\033[31m+0.302"));
  CHECK(contains(render_terminal(report, colour), "\033[31mworse"));
  report.metric.direction = Direction::higher;
  CHECK(contains(render_terminal(report, colour), "\033[32m+0.302"));
}

TEST_CASE("what may be noise has no colour", "[report]") {
  Style colour;
  colour.colour = true;
  // three seeds: the interval excludes 0, but there is no answer
  const std::string text = render_terminal(made_up(), colour);
  CHECK_FALSE(contains(text, "\033[31m+"));
  CHECK_FALSE(contains(text, "\033[32m+"));
}

TEST_CASE("p is corrected for all arms together, and its answer stands beside it", "[report]") {
  ReportData report = six_seeds();
  CHECK(*report.arms[1].comparison->p == 0.03125);
  CHECK(*report.arms[1].comparison->p_holm == 0.0625);
  CHECK(report.arms[1].comparison->answer == statistics::Answer::differs);
  CHECK(report.arms[2].comparison->answer == statistics::Answer::undecided);
  report.margin = 0.03;
  compute_statistics(report);
  CHECK(report.arms[2].comparison->answer == statistics::Answer::same);
  const std::string text = render_terminal(report, Style{});
  CHECK(contains(text, "0.031  worse"));
  CHECK(contains(text, "  same "));
  CHECK(contains(note(report, "p").value().text, "max-|t|"));
  CHECK(contains(note(report, "answer").value().text, "0.03 nats"));
}

TEST_CASE("too few seeds are said to be too few, in place of an answer", "[report]") {
  const ReportData report = made_up();
  CHECK(contains(render_terminal(report, Style{}), "0.50  underpowered"));
  CHECK(contains(note(report, "underpowered").value().text, "n = 3, p cannot be below 0.25; at least 6 seeds"));
}

TEST_CASE("the table is some 100 columns wide", "[report]") {
  const TextTable table = summary_table(six_seeds(), Style{});
  const std::string text = to_text(table);
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    CHECK(display_width(text.substr(begin, end - begin)) <= 100);
    begin = end + 1;
  }
}

TEST_CASE("a report begins with its question", "[report]") {
  ReportData report = six_seeds();
  report.question = "Does additive attention learn faster?";
  CHECK(contains(render_terminal(report, Style{}), "finished\nDoes additive attention learn faster?\n\n"));
  CHECK(contains(render_markdown(report), "# which score\n\nDoes additive attention learn faster?\n\n"));
}

TEST_CASE("one run alone has no spread and no difference", "[report]") {
  ReportData report = made_up();
  report.seeds = {0};
  report.arms = {arm("reference", {finished_run(0, 1.5)})};
  compute_statistics(report);
  const std::string text = render_terminal(report, Style{});
  CHECK(contains(text, "1 of 1 run finished"));
  CHECK(contains(text, "1.5"));
  CHECK_FALSE(contains(text, "difference"));
  CHECK_FALSE(contains(text, "±"));
}

TEST_CASE("a sweep that has not begun has a report, too", "[report]") {
  ReportData report = made_up();
  for (ReportArm& a : report.arms)
    for (ReportRun& run : a.runs) {
      run = ReportRun{};
      run.id = "0123456789abcdef";
    }
  compute_statistics(report);
  CHECK(contains(render_terminal(report, Style{}), "0 of 9 runs finished, 9 missing"));
  CHECK(contains(render_markdown(report), "# which score"));
}

TEST_CASE("the Markdown report names changes, curves, runs, failures and the configuration", "[report]") {
  const std::string text = render_markdown(made_up());
  CHECK(contains(text, "| arm | n | val_loss | difference [95 %] | p | answer | parameters | time |"));
  CHECK(contains(text, "`attention.score = worse`"));
  CHECK(contains(text, "| arm | 100 | 200 |"));
  CHECK(contains(text, "| worse | 2.4000 | 1.4000 |"));
  CHECK(contains(text, "| partly | 1 | `0000000000000011` | failed | - |"));
  CHECK(contains(text, "NaN loss at step 17"));
  CHECK(contains(text, "```toml\nname = \"which score\"\n```"));
}

namespace {

/// `six_seeds`, plus an arm that equals its reference exactly, and an arm that differs by some 1e-8.
ReportData with_equal_arm() {
  ReportData report = six_seeds();
  report.arms.push_back(arm("again", report.arms[0].runs));
  report.arms.push_back(arm("hardly", report.arms[0].runs));
  double off = 1e-8;
  for (ReportRun& run : report.arms.back().runs) *run.value += off += 2e-9;
  compute_statistics(report);
  return report;
}

} // namespace

TEST_CASE("no format shows a zero with a sign, nor a difference of nothing but zeros", "[report]") {
  const ReportData report = with_equal_arm();
  const std::regex signed_zero("[-+]0(\\.0+)?(?![.0-9e])"), zeros("0\\.0+(\\\\;)? ?\\[0\\.0+, 0\\.0+\\]");
  for (const std::string& text : {render_terminal(report, Style{}), render_markdown(report), render_latex(report)}) {
    INFO(text);
    CHECK_FALSE(std::regex_search(text, signed_zero));
    CHECK_FALSE(std::regex_search(text, zeros));
    CHECK(contains(text, "equal, bit for bit"));
    CHECK(contains(text, "equal if "));
  }
  CHECK(contains(render_markdown(report), "| equal, bit for bit | 1.00 | equal |"));
  const std::regex powers(R"(\| \+1\.7e-08 \[\+[1-9]\.[0-9]e-0[89], \+[1-9]\.[0-9]e-08\] \|)");
  CHECK(std::regex_search(render_markdown(report), powers));
  CHECK(contains(render_latex(report), "$+1.7\\cdot10^{-8}\\;[+"));
}

TEST_CASE("the state of decoding is a column where it differs, and a cost in every file", "[report]") {
  ReportData report = six_seeds();
  const auto everywhere = [&] {
    return std::vector{render_terminal(report, Style{}), render_markdown(report), render_latex(report),
                       render_html(report)};
  };
  for (const std::string& text : everywhere()) CHECK_FALSE(contains(text, "16,384"));
  CHECK(contains(render_csv(report), "state_size"));
  for (ReportArm& arm : report.arms) arm.cost->state_size = 16384;
  CHECK_FALSE(contains(render_terminal(report, Style{}), "16,384")); // equal in all arms
  CHECK(contains(render_markdown(report), "| state (numbers) |"));
  CHECK(contains(render_html(report), R"("state_size":16384})"));
  report.arms[1].cost->state_size = 4096;
  report.arms[2].cost->state_size.reset();
  const std::vector<std::string> texts = everywhere();
  for (const std::string& text : texts) {
    CHECK(contains(text, "16,384"));
    CHECK(contains(text, "4,096"));
  }
  CHECK(std::regex_search(texts[0], std::regex("parameters +state +time")));
  CHECK(note(report, "state")->text == "numbers that decoding stores for one sequence, once the longest one is read.");
  CHECK(contains(texts[3], R"("state_size":null})"));
  CHECK(contains(texts[3], R"("state_size":"0.250 )")); // the ratio to the reference's
  std::istringstream lines(render_csv(report));
  std::vector<std::string> cells;
  for (std::string line; std::getline(lines, line);) cells.push_back(line);
  CHECK(contains(cells.at(1), ",16384,"));
  CHECK(contains(cells.at(2), ",4096,"));
}
