#include "experiments/report/problem_groups.hpp"
#include "tests/catch.hpp"

using namespace heed;

namespace {

ReportRun failed_with(std::int64_t seed, const std::string& problem) {
  ReportRun run;
  run.id = "run" + std::to_string(seed);
  run.seed = seed;
  run.state = RunState::failed;
  run.problem = problem;
  return run;
}

std::string plain_id(const std::string& id) { return id; }

} // namespace

TEST_CASE("Runs that failed are grouped by arm and reason", "[report]") {
  ReportData report;
  report.arms.resize(2);
  report.arms[0].label = "a";
  report.arms[0].runs = {failed_with(0, "the disk is full"), ReportRun{}, failed_with(2, "the disk is full"),
                         failed_with(3, "killed")};
  report.arms[1].label = "b";
  report.arms[1].runs = {failed_with(0, "the disk is full")};
  const std::vector<ProblemGroup> groups = problem_groups(report);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].arm == &report.arms[0]);
  CHECK(groups[0].seeds() == "seeds 0, 2");
  CHECK(groups[0].ids(plain_id) == "runs run0, run2");
  CHECK(groups[0].reason() == "the disk is full");
  CHECK(groups[1].seeds() == "seed 3");
  CHECK(groups[1].ids(plain_id) == "run run3");
  CHECK(groups[2].arm == &report.arms[1]);
}

TEST_CASE("Reasons that differ only in numbers are one group, which says so", "[report]") {
  ReportData report;
  report.arms.resize(1);
  report.arms[0].runs = {failed_with(0, "step 9: the loss is not finite (nan)"),
                         failed_with(1, "step 120: the loss is not finite (nan)"), failed_with(2, "step 9: killed")};
  const std::vector<ProblemGroup> groups = problem_groups(report);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].reason() == "step 9: the loss is not finite (nan) (the first of 2 runs; the reasons of the others "
                              "differ in numbers only)");
  CHECK(report.arms[0].runs[0].diverged());
  CHECK_FALSE(report.arms[0].runs[2].diverged());
}

TEST_CASE("what keeps an executed sweep from being complete is said, failures first", "[report]") {
  ReportData report;
  report.arms.resize(1);
  report.arms[0].runs.resize(3);
  std::vector<ReportRun>& runs = report.arms[0].runs;
  for (ReportRun& run : runs) run.state = RunState::finished;
  CHECK(shortfall_in_words(report, 0, 0).empty());
  CHECK_THAT(shortfall_in_words(report, 0, 2), Catch::StartsWith("2 runs finished and cannot be used any more"));

  runs[0].exclusion = RunExclusion::unusable;
  CHECK_THAT(shortfall_in_words(report, 0, 0),
             Catch::StartsWith("1 of 3 runs are unusable and excluded") && Catch::EndsWith("repeat them with"));
  runs[1].exclusion = RunExclusion::gone; // only the report saw it
  CHECK_THAT(shortfall_in_words(report, 0, 0), Catch::StartsWith("1 run finished and cannot be used any more"));

  runs[2] = failed_with(2, "the disk is full");
  CHECK_THAT(shortfall_in_words(report, 1, 1),
             Catch::StartsWith("1 of 3 runs failed") && Catch::EndsWith("Try them again with"));
  runs[2].problem = "step 9: the loss is not finite (nan)";
  CHECK_THAT(shortfall_in_words(report, 1, 0), Catch::EndsWith("change it, then start"));
}
