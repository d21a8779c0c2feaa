// Tests of one answer over all groups of a report: rows "all", sentences, notes and profiles.
#include "experiments/report/over_tasks.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/figures.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/made_up_sweep.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <string>
#include <vector>

using namespace heed;
using Catch::Contains;
using statistics::TaskScope;
using test::fail;
using test::note;

namespace {

const Metric right{"val_accuracy", Direction::higher, "", "share of right tokens", 0, 1};

/// How much an arm differs from its reference in each task.
struct Effects {
  std::string name;
  std::vector<double> of;
};

/// Tasks with these effects; a run differs from its pair by the effect and by up to 0.004.
ReportData sweep_of_tasks(std::size_t tasks, std::size_t seeds, const std::vector<Effects>& arms,
                          const OverTasks& over = {}, const Metric& metric = right) {
  ReportData report;
  report.metric = metric;
  report.over = over;
  report.within.push_back({"task.kind", "task"});
  for (std::size_t s = 0; s < seeds; ++s) report.seeds.push_back(static_cast<std::int64_t>(s));
  for (std::size_t g = 0; g < tasks; ++g) {
    const std::size_t reference = report.arms.size();
    const auto add = [&](const std::string& name, double effect, std::size_t number) {
      ReportArm& arm = report.arms.emplace_back();
      arm.group = {std::string(1, static_cast<char>('a' + g))};
      arm.name = name;
      arm.label = fmt::format("task = {}: {}", arm.group.front(), name);
      arm.reference = reference;
      arm.chance = Task::Chance{.accuracy = 0.1, .how = "1 / 10"};
      for (std::size_t s = 0; s < seeds; ++s) {
        ReportRun& run = arm.runs.emplace_back();
        run.seed = static_cast<std::int64_t>(s);
        run.state = RunState::finished;
        const double noise = number == 0 ? 0 : static_cast<double>((3 * s + 5 * g + 2 * g * s + number) % 8) - 3.5;
        run.value = 0.4 + 0.05 * static_cast<double>(g) + 0.01 * static_cast<double>((3 * s) % 8) + effect +
                    0.001 * noise;
      }
    };
    add("reference", 0, 0);
    for (std::size_t i = 0; i < arms.size(); ++i)
      if (g < arms[i].of.size()) add(arms[i].name, arms[i].of[g], i + 1);
  }
  compute_statistics(report);
  return report;
}

std::vector<std::string> first_column(const ReportData& report) {
  std::vector<std::string> out;
  for (const document::Row& row : arm_table(report).rows) out.push_back(row.cells.front().text);
  return out;
}

} // namespace

TEST_CASE("Over these tasks, an arm has a row and a sentence", "[report][over_tasks]") {
  const ReportData report = sweep_of_tasks(5, 8, {{"gated", {0.02, 0.02, 0.0, 0.03, 0.02}}});
  REQUIRE(report.overall);
  const std::string sentence = sentences_over_tasks(report).front();
  CHECK_THAT(sentence, Catch::StartsWith("Over these 5 tasks, gated is better: 0.01"));
  CHECK_THAT(sentence, Contains(" higher [0.0") && Contains("p = 0.0078, 8 seeds. Better in 4 of 5 tasks. "));
  CHECK_THAT(sentence, Contains("Interquartile mean 0.") && Contains("probability of improvement 0."));
  CHECK(answer_sentences(report).front() == sentence);
  CHECK(short_answer_sentences(report).front() == sentence);
  const std::vector<std::string> rows = first_column(report);
  REQUIRE(rows.size() == 12);
  CHECK(rows[10] == "all: reference");
  CHECK(rows[11] == "all: gated");
  for (const std::string& text : {render_markdown(report), render_latex(report), render_csv(report),
                                  render_terminal(report, Style{}), render_html(report)})
    CHECK_THAT(text, Contains("Over these 5 tasks, gated is better"));
  CHECK_THAT(note(report, "all")->text,
             Contains("rows over all 5 tasks (task = a; task = b; task = c; task = d; task = e)") &&
                 Contains("flipped by seed") && Contains("10,000 draws"));
  // The mean over the tasks, for each seed.
  const ReportArm& all = report.overall->arms[1];
  double mean = 0;
  for (std::size_t g = 0; g < 5; ++g) mean += *report.arms[2 * g + 1].mean / 5;
  CHECK(*all.mean == Approx(mean));
  CHECK(all.values == 8);
  // Without the option, nothing of it is there.
  ReportData without = report;
  without.over.reset();
  compute_statistics(without);
  CHECK_FALSE(without.overall);
  CHECK(first_column(without).size() == 10);
  CHECK_FALSE(note(without, "all"));
  CHECK_FALSE(report_document(without).contains("over"));
}

TEST_CASE("The tasks are counted by their own answers", "[report][over_tasks]") {
  const ReportData report = sweep_of_tasks(
      5, 8, {{"one", {0.1, 0, 0, 0, 0}}, {"mixed", {0.1, -0.1, 0, 0, 0}}, {"low", {-0.1, -0.1, -0.1, 0.03, 0}}});
  const std::vector<std::string> sentences = sentences_over_tasks(report);
  REQUIRE(sentences.size() == 3);
  CHECK_THAT(sentences[0], Contains(" Better in 1 of 5 tasks."));
  CHECK_THAT(sentences[1], Contains("mixed is undecided: ") && Contains(" Better in 1 of 5 tasks, worse in 1."));
  CHECK_THAT(sentences[2],
             Contains("low is worse: ") && Contains(" lower [") && Contains(" Worse in 3 of 5 tasks, better in 1."));
  // p is corrected over these rows only.
  for (std::size_t a = 1; a < 4; ++a) CHECK(report.overall->arms[a].comparison->family == 3);
}

TEST_CASE("An arm that lacks a task has no row over all tasks", "[report][over_tasks]") {
  const ReportData report = sweep_of_tasks(3, 6, {{"gated", {0.02, 0.02, 0.02}}, {"plain", {0.02, 0.02}}});
  CHECK(report.overall->arms.size() == 2);
  CHECK(note(report, "not over all tasks")->text == "plain lacks task = c; so there is no row over all tasks for it.");
  const ReportData none = sweep_of_tasks(3, 6, {{"plain", {0.02, 0.02}}});
  CHECK_FALSE(none.overall);
  CHECK(note(none, "all")->text == "there are no rows over all tasks: no arm is in all tasks.");
  CHECK(sentences_over_tasks(none).empty());
}

TEST_CASE("Tasks like these are flipped by task, and take six", "[report][over_tasks]") {
  const OverTasks alike{.tasks = TaskScope::like_these};
  const ReportData report = sweep_of_tasks(6, 3, {{"gated", {0.02, 0.03, 0.02, 0.01, 0.03, 0.02}}}, alike);
  CHECK_THAT(sentences_over_tasks(report).front(), Catch::StartsWith("Over tasks like these 6, gated is better: ") &&
                                                       Contains(", p = 0.031, 6 tasks. Better in 0 of 6 tasks."));
  CHECK(report.overall->arms[1].values == 6);
  CHECK_THAT(note(report, "all")->text,
             Contains("flipped by task") && Contains("take 8 runs of each arm in each task"));
  const ReportData few = sweep_of_tasks(5, 6, {{"gated", {0.02, 0.03, 0.02, 0.01, 0.03}}}, alike);
  CHECK_FALSE(few.overall);
  CHECK_THAT(note(few, "all")->text, Contains("there are 5 tasks, and an answer for tasks like these takes 6"));
}

TEST_CASE("Values on the scale from chance to best", "[report][over_tasks]") {
  const ReportData report = sweep_of_tasks(3, 6, {{"gated", {0.09, 0.09, 0.09}}}, {.scale = "chance to best"});
  CHECK_THAT(sentences_over_tasks(report).front(), Contains(" higher on the scale from chance (0) to best (1) ["));
  const ReportArm& reference = report.overall->arms[0];
  double mean = 0; // chance is 0.1, the best value 1
  for (std::size_t g = 0; g < 3; ++g) mean += (*report.arms[2 * g].mean - 0.1) / 0.9 / 3;
  CHECK(*reference.mean == Approx(mean));
  // A loss falls from chance, ln 10, to 0: the scale turns it.
  ReportData loss = sweep_of_tasks(3, 6, {{"gated", {-0.2, -0.2, -0.2}}}, {.scale = "chance to best"}, test::loss);
  CHECK_FALSE(loss.overall);
  CHECK_THAT(note(loss, "all")->text, Contains("what guessing reaches, or the best value, is not known at task = a"));
  for (ReportArm& arm : loss.arms) arm.chance->loss = Task::Level{2.302585, "ln(10)"};
  compute_statistics(loss);
  REQUIRE(loss.overall);
  CHECK(loss.overall->arms[1].comparison->difference.mean == Approx(0.2 / 2.302585).epsilon(0.05));
  CHECK_THAT(sentences_over_tasks(loss).front(), Contains("gated is better: ") && Contains(" higher "));
}

TEST_CASE("The margin is of the metric's own scale", "[report][over_tasks]") {
  ReportData report = sweep_of_tasks(3, 8, {{"gated", {0, 0, 0}}});
  report.margin = 0.02;
  compute_statistics(report);
  CHECK_THAT(sentences_over_tasks(report).front(),
             Catch::StartsWith("Over these 3 tasks, gated is the same as the reference: the difference, ") &&
                 Contains("is within the margin of 0.02 in val_accuracy (equivalence test: p = 0.0039, 8 seeds). The "
                          "same in 3 of 3 tasks."));
  report.asked = statistics::Question::not_worse;
  compute_statistics(report);
  CHECK_THAT(sentences_over_tasks(report).front(),
             Contains("gated is not worse by more than 0.02: ") && Contains(" Not worse in 3 of 3 tasks."));
  report.asked = statistics::Question::difference;
  report.over->scale = "1, 2, 3";
  report.over->units = {1, 2, 3};
  compute_statistics(report);
  CHECK_FALSE(report.overall->margin);
  CHECK_THAT(note(report, "all")->text, Contains("so it does not apply to them") &&
                                            Contains("divided by the tasks' units: 1 (task = a), 2 (task = b), 3"));
}

TEST_CASE("Runs that failed are said to be excluded over all tasks", "[report][over_tasks]") {
  ReportData report = sweep_of_tasks(3, 8, {{"gated", {0.02, 0.02, 0.02}}});
  fail(report.arms[1].runs[2], "diverged");
  compute_statistics(report);
  CHECK_THAT(sentences_over_tasks(report).front(),
             Contains(", 7 seeds.") && Contains(" 1 run of the arm and the reference is excluded "));
  CHECK(report.overall->arms[1].values == 7);
}

TEST_CASE("With looks, what a look found over the tasks stays", "[report][over_tasks]") {
  ReportData report = sweep_of_tasks(3, 8, {{"gated", {0.02, 0.02, 0.02}}});
  report.looks = {6, 8};
  compute_statistics(report);
  CHECK(report.overall->arms[1].comparison->seeds.size() == 6);
  CHECK_THAT(sentences_over_tasks(report).front(), Contains("Found at the look of 6 seeds."));
  for (ReportArm& arm : report.arms)
    for (std::size_t s = 5; s < 8; ++s) arm.runs[s].state = RunState::missing, arm.runs[s].value.reset();
  compute_statistics(report);
  CHECK_FALSE(report.overall);
  CHECK(report.over->problem == "the first look, at 6 seeds, is still to come");
}

TEST_CASE("Tasks like these are answered at the last look", "[report][over_tasks]") {
  ReportData report = sweep_of_tasks(6, 8, {{"gated", {0.02, 0.03, 0.02, 0.01, 0.03, 0.02}}},
                                     {.tasks = TaskScope::like_these});
  report.looks = {6, 8};
  compute_statistics(report);
  CHECK(report.overall->arms[1].look == 0);
  CHECK_THAT(render_terminal(report, Style{}), Contains(", p = 0.031, 6 tasks.") && !Contains("6 tasks. Found at"));
  report.arms.back().runs.back().state = RunState::missing;
  report.arms.back().runs.back().value.reset();
  compute_statistics(report);
  CHECK_FALSE(report.overall);
  CHECK_THAT(note(report, "all")->text, Contains("the last look, at 8 seeds, is still to come"));
}

TEST_CASE("Performance profiles fall from 1 to 0", "[report][over_tasks]") {
  const ReportData report = sweep_of_tasks(3, 8, {{"gated", {0.02, 0.02, 0.02}}});
  const std::vector<document::Figure> figures = report_figures(report);
  const document::Figure& profiles = figure_named(figures, "performance-profiles");
  REQUIRE(profiles.series.size() == 2);
  for (const document::Series& series : profiles.series) {
    CHECK(series.points.front().value >= 0.9);
    CHECK(series.points.back().value == 0);
    for (std::size_t i = 1; i < series.points.size(); ++i) CHECK(series.points[i].value <= series.points[i - 1].value);
  }
  CHECK_THAT(render_latex(report), Contains("Performance profiles"));
  // Below 8 runs a task, there are none.
  CHECK(profile_figure(sweep_of_tasks(3, 7, {{"gated", {0.02, 0.02, 0.02}}})).series.empty());
}
