// Tests of several metrics that are corrected together as one family.
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/made_up_sweep.hpp"

#include <boost/json/serialize.hpp>
#include <string>
#include <vector>

using namespace heed;
using Catch::Contains;
using test::answer;
using test::note;
using test::sentence;

namespace {

/// An arm that costs 0.3 nats in every seed, with these differences in accuracy.
ReportData two_metrics(const std::vector<double>& accuracy_lost) {
  const std::vector<double> noise{0.00, 0.01, -0.01, 0.02, 0.005, -0.015};
  ReportData report;
  report.name = "two";
  report.metric = {"val_loss", Direction::lower, "nats", "cross-entropy"};
  report.also = {{"val_accuracy", Direction::higher, "", "fraction that is right", 0, 1}};
  ReportArm reference, arm;
  reference.label = "reference";
  arm.label = "window = 4";
  for (std::size_t i = 0; i < noise.size(); ++i) {
    ReportRun run;
    run.seed = static_cast<std::int64_t>(i);
    run.state = RunState::finished;
    run.value = 1.0 + 0.1 * noise[i];
    run.also = {0.9};
    report.seeds.push_back(run.seed);
    reference.runs.push_back(run);
    *run.value += 0.3 + noise[i];
    *run.also[0] -= accuracy_lost[i];
    arm.runs.push_back(run);
  }
  report.arms = {reference, arm};
  compute_statistics(report);
  return report;
}

ReportData by_further_metric(const ReportData& report, std::size_t wanted) {
  ReportData out;
  each_further_metric(report, [&](std::size_t which, const ReportData& further) {
    if (which == wanted) out = further;
  });
  return out;
}

} // namespace

TEST_CASE("a further metric has a comparison of its own, corrected for both", "[report]") {
  const ReportData report = two_metrics({0.10, 0.11, 0.09, 0.12, 0.10, 0.08});
  const ReportArm& arm = report.arms[1];
  REQUIRE(arm.also.size() == 1);
  CHECK(*arm.also[0].mean == Approx(0.8));
  REQUIRE(arm.also[0].comparison);
  CHECK(arm.also[0].comparison->difference.mean == Approx(-0.1));
  CHECK(*arm.comparison->p == 2.0 / 64);
  CHECK(*arm.also[0].comparison->p == 2.0 / 64);
  const ReportData further = by_further_metric(report, 0);
  CHECK(answer(further) == AnswerWord::worse);
  CHECK_THAT(sentence(further), Contains("val_accuracy is 0.100 lower ["));
}

TEST_CASE("naming a further metric makes p larger where that is the clearer one", "[report]") {
  // The differences in loss have mixed signs; tested by itself, the loss has the p of 64 flips.
  ReportData report = two_metrics({0.10, 0.11, 0.09, 0.12, 0.10, 0.08});
  const std::vector<double> mixed{0.3, -0.1, 0.3, 0.2, 0.1, 0.2};
  for (std::size_t i = 0; i < mixed.size(); ++i)
    report.arms[1].runs[i].value = *report.arms[0].runs[i].value + mixed[i];
  compute_statistics(report);
  const double together = *report.arms[1].comparison->p, alone = *report.arms[1].comparison->p_flip;
  CHECK(together >= alone);
  CHECK(*report.arms[1].also[0].comparison->p >= 2.0 / 64);
  report.also.clear();
  compute_statistics(report);
  CHECK(*report.arms[1].comparison->p == alone);
}

TEST_CASE("a run without the further metric is in no number of it", "[report]") {
  ReportData report = two_metrics({0.10, 0.11, 0.09, 0.12, 0.10, 0.08});
  report.arms[1].runs[0].also[0].reset();
  report.arms[1].runs[1].also.clear(); // as an earlier version stored it
  compute_statistics(report);
  CHECK(report.arms[1].values == 6);
  CHECK(report.arms[1].also[0].values == 4);
  CHECK(report.arms[1].also[0].comparison->seeds == std::vector<std::int64_t>{2, 3, 4, 5});
}

TEST_CASE("every format has the further metrics", "[report]") {
  const ReportData report = two_metrics({0.10, 0.11, 0.09, 0.12, 0.10, 0.08});
  const std::string said = sentence(by_further_metric(report, 0));
  for (const std::string& text : {render_terminal(report, Style{}, 400), render_markdown(report),
                                  boost::json::serialize(report_document(report)), render_csv(report)})
    CHECK_THAT(text, Contains(said));
  CHECK_THAT(render_latex(report), Contains("Window = 4 is worse: val"));
  CHECK_THAT(note(report, "p").value().text, Contains("arms and metrics"));
  CHECK_THAT(render_markdown(report), Contains("\n## val_accuracy\n"));
}

TEST_CASE("a further metric that came to no number is a failed run there", "[report]") {
  ReportData report = two_metrics({0.10, 0.11, 0.09, 0.12, 0.10, 0.08});
  for (ReportArm& arm : report.arms)
    for (ReportRun& run : arm.runs) run.also_problems = {""};
  report.arms[1].runs[2].also = {{}};
  report.arms[1].runs[2].also_problems = {"val_accuracy was nan: no result"};
  compute_statistics(report);
  const ReportData further = by_further_metric(report, 0);
  const ReportArm& arm = further.arms[1];
  CHECK(arm.values == 5);
  CHECK(arm.p_failed_worst);
  CHECK_THAT(sentence(further), Contains("1 of 6 seeds is excluded"));
  // A run that failed in the deciding metric only is whole in the further one.
  ReportData other = two_metrics({0.10, 0.11, 0.09, 0.12, 0.10, 0.08});
  other.arms[1].runs[2].state = RunState::failed;
  other.arms[1].runs[2].value.reset();
  compute_statistics(other);
  const ReportData accuracy = by_further_metric(other, 0);
  CHECK(accuracy.arms[1].values == 6);
  CHECK_FALSE(accuracy.arms[1].p_failed_worst);
  CHECK_THAT(sentence(accuracy), !Contains("excluded"));
  // The deciding metric has all its runs.
  CHECK(report.arms[1].values == 6);
  CHECK_FALSE(report.arms[1].p_failed_worst);
}
