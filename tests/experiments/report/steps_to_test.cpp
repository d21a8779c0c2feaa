// Tests of steps_to in reports, from run folders: runs that never reach the target rank after the last step.
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/made_up_sweep.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <boost/json.hpp>
#include <map>
#include <string>
#include <vector>

using namespace heed;
using Catch::Contains;
using test::answer;
using test::note;
using test::sentence;

namespace {

using Losses = std::vector<double>;

/// Two arms, each with one seed for each list of losses; the losses are those of steps 10, 20, 30, ...
ReportData report_of(const std::vector<Losses>& reference, const std::vector<Losses>& arm, const std::string& report) {
  const Scratch out;
  std::string seeds;
  for (std::size_t i = 0; i < reference.size(); ++i) seeds += (i == 0 ? "" : ", ") + std::to_string(i);
  const Plan plan = make_plan(
      Settings::parse("train.steps = 40\ntrain.evaluate_every = 10\n[report]\n" + report + "\n[sweep]\nseeds = [" +
                          seeds + "]\n[[sweep.block]]\ngrid = { \"attention.score\" = [\"additive\"] }\n",
                      "test"),
      [](const Config&) { return "data of a test"; }, "test");
  for (const PlannedRun& run : plan.runs) {
    const Losses& losses = (run.arm == 0 ? reference : arm).at(static_cast<std::size_t>(run.seed));
    test::run_of(out, run.config, test::losses(losses));
  }
  return collect_report(plan, out.path, out.path / "sweeps" / "test", [](const Config&) { return ArmFacts{}; });
}

const std::string fast = "metric = \"steps_to(val_loss, 1.0)\"";

std::vector<double> values_of(const ReportArm& arm) {
  std::vector<double> out;
  for (const ReportRun& run : arm.runs) out.push_back(run.value.value_or(-1));
  return out;
}

} // namespace

TEST_CASE("an arm that gets there sooner gains, though both end at the same value", "[report][steps_to]") {
  const Losses slow{3, 2, 1, 0}, quick{1, 0, 0, 0};
  const ReportData report = report_of(std::vector(6, slow), std::vector(6, quick), fast);
  CHECK(values_of(report.arms[0]) == std::vector<double>(6, 30));
  CHECK(values_of(report.arms[1]) == std::vector<double>(6, 10));
  CHECK(answer(report) == AnswerWord::better);
  CHECK_THAT(sentence(report),
             Contains("steps_to(val_loss, 1.0) is 20 steps lower in each of 6 seeds, p = 0.031, n = 6."));
  CHECK(report.curve_metric().name == "val_loss");
  CHECK(report.arms[0].runs[0].curve[0].value == 3);
  const ReportData ends = report_of(std::vector(6, slow), std::vector(6, quick), "metric = \"val_loss\"");
  CHECK(answer(ends) == AnswerWord::equal);
}

TEST_CASE("runs that never get there count as one evaluation beyond the last, and are told", "[report][steps_to]") {
  const Losses in_time{3, 2, 0.5, 2}, never{3, 2.5, 2, 1.5};
  const ReportData report = report_of(std::vector(6, in_time), {in_time, never, never, never, never, never}, fast);
  CHECK(values_of(report.arms[1]) == std::vector<double>{30, 50, 50, 50, 50, 50});
  CHECK_THAT(sentence(report),
             Contains("5 of its 6 runs did not reach the target") && Contains("50 steps") && Contains("by ranks"));
  CHECK(report.arms[1].comparison->ranked);
  CHECK_THAT(report.metric.description, Contains("a run that never gets there counts as 50"));
}

TEST_CASE("runs that never get there make nothing the same", "[report][steps_to]") {
  // The reference gets there at the last evaluation, and the arm never: by what they count as, they differ by 10 steps.
  const Losses just{3, 2, 1.5, 0.5}, never{3, 2, 1.5, 1.5};
  const ReportData report = report_of(std::vector(6, just), std::vector(6, never), fast + "\nmargin = 15.0");
  CHECK(report.arms[1].comparison->answer != statistics::Answer::same);
  CHECK_THAT(sentence(report),
             Contains("6 of its 6 runs did not reach the target") && Contains("never called the same"));
  const ReportData all_there = report_of(std::vector(6, just), std::vector(6, just), fast + "\nmargin = 15.0");
  CHECK_THAT(sentence(all_there), !Contains("did not reach the target"));
}

TEST_CASE("how fast can be a further metric", "[report][steps_to]") {
  const Losses slow{3, 2, 1, 0}, quick{1, 0, 0, 0};
  const ReportData report = report_of(std::vector(6, slow), std::vector(6, quick),
                                      "metric = \"val_loss\"\nalso = [\"steps_to(val_loss, 1.0)\"]");
  REQUIRE(report.arms[1].also.size() == 1);
  CHECK(*report.arms[1].also[0].mean == 10);
  CHECK(report.arms[1].also[0].comparison->difference.mean == -20);
}

TEST_CASE("where all are there at once, the report asks for more evaluations", "[report][steps_to]") {
  const Losses at_once{1, 0, 0, 0};
  const ReportData report = report_of(std::vector(6, at_once), std::vector(6, at_once), fast);
  CHECK_THAT(note(report, "evaluations").value().text, Contains("train.evaluate_every"));
  const Losses later{3, 1, 0, 0};
  CHECK_FALSE(note(report_of(std::vector(6, later), std::vector(6, later), fast), "evaluations"));
}

TEST_CASE("curves are of the metric, not of the steps to it", "[report][steps_to]") {
  const Losses slow{3, 2, 1, 0}, quick{1, 0, 0, 0};
  const ReportData report = report_of(std::vector(6, slow), std::vector(6, quick), fast);
  CHECK_THAT(render_markdown(report), Contains("The mean of val_loss "));
  CHECK_THAT(render_latex(report), Contains("ylabel={val\\_loss (nats)}"));
  CHECK(report_document(report).at("curve_metric").at("name").as_string() == "val_loss");
}
