// Tests of what a report says before, at and between planned looks (interim analyses).
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/made_up_sweep.hpp"

#include <boost/json.hpp>
#include <string>
#include <vector>

using namespace heed;
using Catch::Contains;
using statistics::Answer;
using test::note;
using test::sentence;

namespace {

const std::vector<double> clear_at_six{0.30, 0.33, 0.29, 0.31, 0.27, 0.34, -0.9, 0.4, -0.7, 0.3};
const std::vector<double> clear_at_ten{0.30, -0.02, 0.29, 0.31, 0.27, 0.34, 0.30, 0.32, 0.28, 0.31};
const std::vector<double> unclear_at_ten{0.30, -0.20, 0.30, -0.03, -0.10, 0.20, 0.1, -0.2, 0.05, -0.15};

/// Ten seeds with looks at 6 and 10. All runs of the first `finished` seeds exist.
ReportData looked_at(std::size_t finished,
                     const std::vector<std::vector<double>>& arms = {clear_at_six, clear_at_ten, unclear_at_ten}) {
  ReportData report;
  report.metric = {"val_loss", Direction::lower, "nats", "cross-entropy"};
  report.looks = {6, 10};
  report.arms.resize(1 + arms.size());
  for (std::size_t a = 0; a < report.arms.size(); ++a) {
    report.arms[a].label = a == 0 ? "reference" : "arm " + std::to_string(a);
    for (std::size_t seed = 0; seed < 10; ++seed) {
      if (a == 0) report.seeds.push_back(static_cast<std::int64_t>(seed));
      ReportRun run;
      run.seed = static_cast<std::int64_t>(seed);
      run.id = "0123456789abcdef";
      if (seed < finished) {
        run.state = RunState::finished;
        run.value = 1.0 + 0.1 * static_cast<double>(seed) + (a == 0 ? 0.0 : arms[a - 1][seed]);
      }
      report.arms[a].runs.push_back(run);
    }
  }
  compute_statistics(report);
  return report;
}

std::string looks_note(const ReportData& report) { return note(report, "looks").value().text; }

} // namespace

TEST_CASE("before the first look there are no answers", "[report]") {
  ReportData report = looked_at(5);
  CHECK(report.before_first_look());
  for (const ReportArm& arm : report.arms) CHECK_FALSE(arm.comparison);
  CHECK_THAT(sentence(report, 1), Contains("no answer") && Contains("at 6 seeds"));
  CHECK_THAT(looks_note(report), Contains("at 6, 10 seeds, where p may be 0.0354, 0.0146") && Contains("5 %") &&
                                     Contains("5 of 10 seeds") && Contains("the first look is at 6 seeds"));
  CHECK_THAT(render_markdown(report), Contains(looks_note(report)) && !Contains("p = "));
  // A test of proportions or of ranks does not change this, either.
  report.learned = 1.2;
  report.arms[1].runs[0].value.reset();
  report.arms[1].runs[0].state = RunState::failed;
  compute_statistics(report);
  CHECK_FALSE(report.arms[1].learned);
  CHECK_FALSE(report.arms[1].p_failed_worst);
}

TEST_CASE("at a look, answers are at the level that it may spend", "[report]") {
  const ReportData report = looked_at(6);
  REQUIRE(report.arms[1].comparison);
  CHECK(report.arms[1].comparison->answer == Answer::differs);
  CHECK(report.arms[1].look == 6);
  // 0.05 ln(1 + (e - 1) 0.6)
  CHECK(report.arms[1].comparison->level == Approx(0.03542565));
  CHECK_THAT(sentence(report, 1),
             Contains("p = 0.031, n = 6.") && Contains("Found at the look of 6 seeds (p 0.031 <= 0.0354)."));
  CHECK(report.arms[2].comparison->answer == Answer::undecided); // 2 of 32: one sign differs
  CHECK_THAT(sentence(report, 2), !Contains("Found at"));
  const std::string text = render_terminal(report, Style{}, 0);
  CHECK_THAT(text, Contains("difference [96.5 %]"));
  CHECK_THAT(note(report, "difference").value().text, Contains("[96.5 %]"));
  CHECK_THAT(note(report, "answer").value().text, Contains("at most its look's level"));
  CHECK_THAT(looks_note(report), Contains("6 of 10 seeds") && Contains("the planned look at 6"));
  CHECK_FALSE(note(report, "unfinished"));
  const std::string latex = render_latex(report);
  CHECK_THAT(latex, Contains("difference {[}96.5\\,\\%{]}") && !Contains("95\\,\\%"));
}

TEST_CASE("between looks the answers are the last look's, and later seeds are in no number", "[report]") {
  const ReportData at = looked_at(6), between = looked_at(9);
  CHECK(between.seeds_looked_at() == 6);
  CHECK(between.seeds_done() == 9);
  for (std::size_t a = 1; a < 4; ++a) {
    CHECK(sentence(between, a) == sentence(at, a));
    CHECK(between.arms[a].values == 6);
    CHECK(between.arms[a].mean == at.arms[a].mean);
    CHECK(between.arms[a].comparison->seeds.size() == 6);
  }
  CHECK_THAT(looks_note(between), Contains("9 of 10 seeds") && Contains("the planned look at 6"));
  // A look is complete when no run of its seeds is still expected; a failed run is not expected.
  ReportData gap = looked_at(9);
  gap.arms[2].runs[3].state = RunState::running;
  gap.arms[2].runs[3].value.reset();
  compute_statistics(gap);
  CHECK(gap.before_first_look());
  CHECK(gap.seeds_done() == 8);
  gap.arms[2].runs[3].state = RunState::failed;
  compute_statistics(gap);
  CHECK(gap.seeds_looked_at() == 6);
  CHECK(gap.arms[2].comparison->seeds.size() == 5);
  CHECK_THAT(sentence(gap, 2), Contains("1 of 6 seeds is excluded"));
}

TEST_CASE("what later seeds say stands beside what a look found", "[report]") {
  const std::vector<double> same_at_six{0.01, -0.01, 0.02, -0.02, 0.01, -0.01, 0.9, 0.9, 0.9, 0.9};
  ReportData report = looked_at(6, {same_at_six});
  report.margin = 0.1;
  compute_statistics(report);
  CHECK(report.arms[1].comparison->answer == Answer::same);
  CHECK_THAT(sentence(report, 1), !Contains("Over all"));
  report = looked_at(10, {same_at_six});
  report.margin = 0.1;
  compute_statistics(report);
  CHECK(report.arms[1].comparison->answer == Answer::same);
  CHECK_THAT(sentence(report, 1), Contains("Over all seeds: +0.36 nats") && Contains("(98.5 % interval), p") &&
                                      Contains(", n = 10") && Contains("this mean is beyond the margin"));
}

TEST_CASE("what a look found stays, with that look's numbers", "[report]") {
  const ReportData report = looked_at(10);
  // With all ten seeds, arm 1 is far from clear.
  CHECK(report.arms[1].comparison->answer == Answer::differs);
  CHECK(report.arms[1].look == 6);
  CHECK(report.arms[1].comparison->seeds.size() == 6);
  CHECK_THAT(sentence(report, 1), Contains("n = 6.") && Contains("Found at the look of 6 seeds"));
  CHECK_THAT(sentence(report, 1), Contains("Over all seeds: +0.0"));
  CHECK_FALSE(report.arms[2].later);
  // 4 of 1024: -0.02 may have either sign.
  CHECK(report.arms[2].look == 10);
  CHECK(*report.arms[2].comparison->p == Approx(4.0 / 1024));
  CHECK_THAT(sentence(report, 2), Contains("Found at the look of 10 seeds (p 0.0039 <= 0.0146)."));
  CHECK(report.arms[3].comparison->answer == Answer::undecided);
  CHECK(report.arms[3].look == 10);
  CHECK(report.arms[3].values == 10);
  CHECK_THAT(looks_note(report), Contains("the last look") && Contains("(n = ...)"));
  CHECK_THAT(render_markdown(report), Contains("difference [each look's %]"));

  const boost::json::object document = report_document(report);
  CHECK(document.at("looks").at(0).at("seeds").as_uint64() == 6);
  CHECK(document.at("looks").at(1).at("level").as_double() == Approx(0.01457435));
  CHECK(document.at("looks").at(1).at("reached").as_bool());
  CHECK(document.at("arms").at(1).at("look").as_uint64() == 6);
  CHECK(document.at("arms").at(0).at("look").is_null());
}

TEST_CASE("a p between a look's level and 5 % is no difference", "[report]") {
  // Of 10 seeds, the two smallest differences have the other sign; 20 of the 1024 flips are at least as extreme (a loop
  // in Python).
  const std::vector<double> d{0.30, -0.15, 0.29, 0.31, -0.16, 0.34, 0.30, 0.32, 0.28, 0.31};
  ReportData report = looked_at(10, {d});
  CHECK(*report.arms[1].comparison->p == Approx(20.0 / 1024));
  CHECK(report.arms[1].comparison->answer == Answer::undecided);
  CHECK_FALSE((report.arms[1].comparison->interval->low > 0));
  report.looks.clear();
  compute_statistics(report);
  CHECK(report.arms[1].comparison->answer == Answer::differs);
  CHECK(report.arms[1].look == 0);
  CHECK_FALSE(note(report, "looks"));
  CHECK_THAT(render_markdown(report), Contains("difference [95 %]"));
}

TEST_CASE("the same within the margin goes by a look's level, too", "[report]") {
  const std::vector<double> d{0.01, -0.02, 0.015, -0.01, 0.02, -0.01, 0.01, -0.02, 0.015, -0.01};
  ReportData report = looked_at(7, {d});
  report.margin = 0.05;
  compute_statistics(report);
  CHECK(report.arms[1].comparison->answer == Answer::same);
  CHECK_THAT(sentence(report, 1),
             Contains("None of its 6 runs failed") && Contains("Found at the look of 6 seeds (p 0.016 <= 0.0354)."));
}
