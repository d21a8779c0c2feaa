// Tests of the answers of a sweep: which one an arm gets, with which numbers, and what its sentence says beside it. The
// words are in sentences_test.cpp.
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/made_up_sweep.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <string>
#include <vector>

using namespace heed;
using Catch::Contains;
using test::answer;
using test::fail;
using test::note;
using test::sentence;
using test::sweep_with;

namespace {

const std::vector<double> clear{0.30, 0.33, 0.29, 0.31, 0.27, 0.34};
const std::vector<double> unclear{0.30, -0.20, 0.30, -0.03, -0.10, 0.20};

std::vector<double> negative(std::vector<double> values) {
  for (double& x : values) x = -x;
  return values;
}

} // namespace

TEST_CASE("an arm that differs has an answer, its difference, its interval and p", "[report]") {
  // With six differences, the sign-flip confidence interval at 5 % reaches from the smallest to the largest.
  const ReportData report = sweep_with("without residual", clear);
  CHECK(answer(report) == AnswerWord::worse);
  CHECK_THAT(sentence(report), Contains("0.307 nats higher [0.270, 0.340], p = 0.031, n = 6."));
}

TEST_CASE("what is better follows the metric's direction", "[report]") {
  ReportData report = sweep_with("score = additive", negative(clear));
  CHECK(answer(report) == AnswerWord::better);
  CHECK_THAT(sentence(report), Contains("0.307 nats lower [0.270, 0.340], p = 0.031, n = 6."));
  report.metric = {"val_accuracy", Direction::higher, "", "fraction that is right"};
  CHECK(answer(report) == AnswerWord::worse);
  CHECK_THAT(sentence(report), Contains("val_accuracy is 0.307 lower [0.270, 0.340], p = 0.031, n = 6."));
  report = sweep_with("score = additive", clear);
  report.metric = {"val_accuracy", Direction::higher, "", "fraction that is right"};
  CHECK(answer(report) == AnswerWord::better);
  CHECK_THAT(sentence(report), Contains("val_accuracy is 0.307 higher [0.270, 0.340], p = 0.031, n = 6."));
}

TEST_CASE("what can't be told from the reference is not said to be the same", "[report]") {
  // p: in 32 of the 64 flips, |sum| >= 0.47 (a loop in Python).
  ReportData report = sweep_with("norm = post", unclear);
  // 1.7927 standard deviations, where Phi(d)^6 + Phi(-d)^6 = 0.8: 0.3879, by SciPy and Python's statistics.
  const auto check_numbers = [&] {
    CHECK(answer(report) == AnswerWord::undecided);
    CHECK_THAT(sentence(report), Contains("+0.08 nats [-0.20, 0.30], p = 0.50, n = 6. ") && Contains("0.57 nats") &&
                                     Contains("80 of 100"));
  };
  check_numbers();
  CHECK_THAT(sentence(report), !Contains("0.05 nats"));
  report.margin = 0.05;
  compute_statistics(report);
  check_numbers();
  CHECK_THAT(sentence(report), Contains("within 0.05 nats"));
}

TEST_CASE("the difference that would have been found goes by the test and the number of arms", "[report]") {
  const std::vector<double> ten{0.30, -0.20, 0.30, -0.03, -0.10, 0.20, 0.1, -0.2, 0.05, -0.15};
  ReportData report = sweep_with("norm = post", ten);
  const double spread = 0.193967351; // Python's statistics.stdev
  // SciPy: sqrt(f / chi2.ppf(0.2, f)) for f = 9, the upper 80 % bound of the spread in units of the observed one
  constexpr double bound = 1.2933854444529525;
  CHECK(*report.arms[1].smallest_found == Approx(0.9960014 * bound * spread).epsilon(1e-5));
  for (int more = 0; more < 4; ++more) report.arms.push_back(report.arms[1]);
  compute_statistics(report);
  CHECK(*report.arms[1].smallest_found == Approx(1.3320321 * bound * spread).epsilon(1e-5)); // at 1 %
  CHECK_FALSE(report.arms[0].smallest_found);

  report = sweep_with("norm = post", {0.30, -0.20, 0.25, -0.10});
  report.test = statistics::Test::unpaired;
  compute_statistics(report);
  // Four runs that must be separated: 2.8806675 times the two arms' pooled standard deviation, sqrt((0.129099^2 +
  // 0.232289^2) / 2).
  REQUIRE(report.arms[1].comparison->answer == statistics::Answer::undecided);
  CHECK(*report.arms[1].smallest_found == Approx(2.8806675 * 1.3979775 * 0.187916205).epsilon(1e-5)); // f = 6

  CHECK_FALSE(sweep_with("without residual", clear).arms[1].smallest_found);
  CHECK_FALSE(sweep_with("without residual", {0.3, 0.2}).arms[1].smallest_found);
  CHECK_FALSE(sweep_with("without residual", std::vector<double>(6, 0.0)).arms[1].smallest_found);
}

TEST_CASE("the same within the margin is an answer of its own", "[report]") {
  ReportData report = sweep_with("heads = 8", {0.01, -0.02, 0.015, -0.01, 0.02, -0.01});
  report.margin = 0.05;
  compute_statistics(report);
  CHECK(answer(report) == AnswerWord::same);
  // In one flip of 64, all differences are within the margin. 0.05^(1/6) = 0.607: the bound of no failure in 6 runs.
  CHECK_THAT(sentence(report), Contains("+0.001 nats") && Contains("0.05 nats") && Contains("p = 0.016, n = 6") &&
                                   Contains("[-0.015, 0.015]") && Contains("39 %"));
}

TEST_CASE("arms of which half the seeds learned leave the others' intervals of use", "[report]") {
  ReportData report = sweep_with("without residual", clear);
  CHECK_THAT(sentence(report), Contains("0.307 nats higher [0.270, 0.340], p = 0.031, n = 6."));
  for (const double odd : {0.1, 0.2, 0.3}) {
    ReportArm arm = sweep_with("rate", {3, 0, 3 - odd, 0, 0, 3}).arms[1];
    arm.label = "odd";
    report.arms.push_back(arm);
  }
  compute_statistics(report);
  CHECK(answer(report) == AnswerWord::worse);
  CHECK_THAT(sentence(report), Contains("0.307 nats higher [0.259, 0.355], p = 0.031, n = 6."));
}

TEST_CASE("too few seeds give no answer, and how many would", "[report]") {
  ReportData report = sweep_with("without scale", {0.30, 0.33, 0.29, 0.31, 0.27});
  CHECK(answer(report) == AnswerWord::underpowered);
  CHECK_THAT(sentence(report), Contains("n = 5, ") && Contains("0.0625; at least 6 seeds") && Contains("+0.300 nats") &&
                                   Contains("[0.272, 0.328]"));
  report = sweep_with("without scale", {0.25});
  CHECK(answer(report) == AnswerWord::underpowered);
  CHECK_THAT(sentence(report),
             Contains("n = 1, ") && Contains("below 1; at least 6 seeds") && Catch::EndsWith("+0.2500 nats."));
}

TEST_CASE("p from a sample of the flips is called approximate", "[report]") {
  std::vector<double> many;
  for (int i = 0; i < 24; ++i) many.push_back(0.3 + 0.001 * i);
  CHECK_THAT(sentence(sweep_with("without residual", many)), Contains("p <= 1e-05 (approximate), n = 24."));
}

TEST_CASE("what is the same number in every seed is equal, and no difference is told", "[report]") {
  ReportData report = sweep_with("without scale", {0, 0, 0, 0, 0, 0});
  CHECK(answer(report) == AnswerWord::equal);
  CHECK_THAT(sentence(report), Contains("bit for bit") && Contains("val_loss") && Catch::EndsWith("each of 6 seeds.") &&
                                   !Contains("nats") && !Contains("p ="));
  const std::string without_margin = sentence(report);
  report.margin = 0.05;
  compute_statistics(report);
  CHECK(answer(report) == AnswerWord::equal);
  CHECK(sentence(report) == without_margin);
  report = sweep_with("without scale", {0});
  CHECK(answer(report) == AnswerWord::equal);
  CHECK_THAT(sentence(report), Catch::EndsWith("the one seed."));
  // Differences with mean 0 give no such statement.
  CHECK(answer(sweep_with("without scale", {0.5, -0.5, 0.5, -0.5, 0.5, -0.5})) == AnswerWord::undecided);
}

TEST_CASE("differences too small for decimals are told by powers of ten", "[report]") {
  const ReportData report = sweep_with("heads = 8", {3e-8, 4e-8, 2e-8, 3e-8, 5e-8, 3e-8});
  CHECK(answer(report) == AnswerWord::worse);
  CHECK_THAT(sentence(report), Contains("3.3e-08 nats higher [2.0e-08, 5.0e-08]"));
}

TEST_CASE("nothing is said of the reference, and an arm without a pair has no answer", "[report]") {
  ReportData report = sweep_with("without scale", clear);
  CHECK(sentence(report, 0).empty());
  for (ReportRun& run : report.arms[1].runs) run.value.reset();
  compute_statistics(report);
  CHECK(answer(report) == AnswerWord::none);
  CHECK_THAT(sentence(report), Contains("can't be compared:") && Contains("6 of 6 seeds are excluded"));
  for (ReportRun& run : report.arms[1].runs) run.state = RunState::missing;
  compute_statistics(report);
  CHECK(answer(report) == AnswerWord::none);
  CHECK_THAT(sentence(report), Contains("can't be compared yet") && !Contains("excluded"));
}

TEST_CASE("the sentences stand under the table, in the terminal and in Markdown", "[report]") {
  const ReportData report = sweep_with("without residual", clear);
  CHECK_THAT(render_terminal(report, Style{}), Contains("\n  " + sentence(report) + "\n"));
  CHECK_THAT(render_markdown(report), Contains("\n- " + sentence(report) + "\n"));
}

TEST_CASE("seeds whose runs failed are counted, since arms that diverge look better without them", "[report]") {
  ReportData report = sweep_with("score = additive", {0.30, 0.33, 0.29, 0.31, 0.27, 0.34, 0.30, 0.30});
  fail(report.arms[1].runs[6]);
  report.arms[0].runs[7].exclusion = RunExclusion::unusable;
  report.arms[0].runs[7].value.reset();
  compute_statistics(report);
  CHECK(answer(report) == AnswerWord::worse);
  CHECK_THAT(sentence(report),
             Contains("0.307 nats higher [0.270, 0.340], p = 0.031, n = 6. 2 of 8 seeds are excluded") &&
                 Contains("p = 0.016 (ranks") && Catch::EndsWith("the answer holds."));
}

TEST_CASE("an arm that gains where it does not fail is not said to gain without a word", "[report]") {
  ReportData report = sweep_with("score = additive", {-0.3, -0.33, -0.29, -0.31, -0.27, -0.34, 0, 0, 0});
  for (std::size_t i = 6; i < 9; ++i) fail(report.arms[1].runs[i]);
  compute_statistics(report);
  CHECK(answer(report) == AnswerWord::better);
  CHECK(report.arms[1].p_failed_worst.value() > 0.05);
  CHECK_THAT(sentence(report), Contains("0.307 nats lower") && Contains("the answer does not hold"));
  // The same runs, but every seed of the reference failed there, too: the comparison loses nothing.
  for (std::size_t i = 6; i < 9; ++i) fail(report.arms[0].runs[i]);
  compute_statistics(report);
  CHECK_THAT(sentence(report), Contains("p = 0.031 (ranks") && Catch::EndsWith("the answer holds."));
}

TEST_CASE("where some seeds learn and some don't, their shares come first", "[report]") {
  ReportData report = sweep_with("norm = post", {0, 0, 0, 0, 0, 0});
  report.metric = {"val_accuracy", Direction::higher, "", "fraction that is right"};
  const std::vector<double> reference{0.99, 0.98, 1.0, 0.99, 0.98, 0.99}, arm{0.99, 0.12, 0.98, 0.15, 0.99, 0.98};
  for (std::size_t i = 0; i < 6; ++i) {
    report.arms[0].runs[i].value = reference[i];
    report.arms[1].runs[i].value = arm[i];
  }
  compute_statistics(report);
  // SciPy 1.17.1: fisher_exact([[4, 2], [6, 0]]), binomtest(4, 6).proportion_ci().
  CHECK(answer(report) == AnswerWord::undecided);
  CHECK_THAT(sentence(report),
             Catch::StartsWith("norm = post: 4 of 6 seeds learned (67 %, 95 % interval [22, 96]; val_accuracy >= "
                               "0.565, ") &&
                 Contains("and 6 of 6 of the reference, p = 0.45 (Fisher). norm = post is undecided"));
  report.learned = 0.985;
  compute_statistics(report);
  CHECK_THAT(
      sentence(report),
      Catch::StartsWith("norm = post: 2 of 6 seeds learned (33 %, 95 % interval [4, 78]; val_accuracy >= 0.985)") &&
          Contains("4 of 6 of the reference, p = 0.57 (Fisher). "));
  report.learned = 0.1; // all learned: no statement
  compute_statistics(report);
  CHECK_THAT(sentence(report), Catch::StartsWith("norm = post is undecided"));
  CHECK(report.arms[1].learned->arm.seeds == 6);
}

TEST_CASE("outcomes that are one heap have no learned seeds", "[report]") {
  const ReportData report = sweep_with("norm = post",
                                       clear); // all of the arm's values are separated from the reference's
  CHECK_FALSE(report.arms[1].learned);
}

TEST_CASE("unpaired runs are told by both numbers of runs", "[report]") {
  ReportData report = sweep_with("norm = post", {3, 3.1, 2.9, 3.05});
  report.arms[0].runs.push_back(report.arms[0].runs.back());
  report.arms[0].runs.back().seed = 77;
  report.test = statistics::Test::unpaired;
  compute_statistics(report);
  CHECK_THAT(sentence(report), Catch::EndsWith("p = 0.0079, n = 4 and 5 (reference).")); // 1 of 126
  CHECK_THAT(note(report, "p").value().text, Contains("permutations"));
}

TEST_CASE("Fisher's p is corrected for the number of arms, with or without such a p", "[report]") {
  ReportData report = sweep_with("norm = post", {0, 0, 0, 0, 0, 0, 0, 0});
  report.metric = {"val_accuracy", Direction::higher, "", "fraction that is right", 0, 1};
  for (std::size_t i = 0; i < 8; ++i) {
    report.arms[0].runs[i].value = 0.9 + 0.001 * static_cast<double>(i);
    report.arms[1].runs[i].value = i < 3 ? 0.9 : 0.1;
  }
  compute_statistics(report);
  CHECK(report.arms[1].learned->p == Approx(0.025641025641025644)); // SciPy 1.17.1: fisher_exact([[3, 5], [8, 0]])
  CHECK_THAT(sentence(report), Contains("p = 0.026 (Fisher). "));
  for (int more = 0; more < 2; ++more) { // two arms of which all seeds learn
    report.arms.push_back(report.arms[0]);
    report.arms.back().label = "other";
  }
  compute_statistics(report);
  CHECK(report.arms[1].learned->p == Approx(3 * 0.025641025641025644));
  CHECK_THAT(sentence(report), Contains("p = 0.077 (Fisher, corrected for 3 arms). "));
}

TEST_CASE("a found answer of tuned arms says what p is if their choices are noise", "[report]") {
  ReportData report = sweep_with("heads = 8", clear);
  report.tuning = Tuning{.seeds = {100}, .options = {}, .runs = {}, .arms = {}};
  for (int i = 0; i < 2; ++i) {
    ArmTuning arm;
    for (const double value : {1.0, 1.1, 2.0}) arm.trials.emplace_back().value = value;
    arm.chosen = 0;
    report.tuning->arms.push_back(arm);
  }
  compute_statistics(report);
  CHECK(report.arms[1].p_choices.value() > 0.0312);
  CHECK(report.arms[1].other_choices > 0.2);
  const ReportArm& arm = report.arms[1];
  CHECK_THAT(sentence(report), Contains(fmt::format("{:.0f} % of draws (the reference's: {:.0f} %)",
                                                    100 * arm.other_choices, 100 * arm.other_choices_of_reference)) &&
                                   Contains("further noise, p " + p_with_relation(*arm.p_choices)));
  for (ArmTuning& arm : report.tuning->arms) arm.trials.resize(1); // nothing to choose
  compute_statistics(report);
  CHECK(report.arms[1].p_choices == report.arms[1].comparison->p);
  CHECK_THAT(sentence(report), Contains("the same settings") && !Contains("of draws"));
  for (ReportRun& run : report.arms[1].runs) run.value = *report.arms[0].runs[static_cast<std::size_t>(run.seed)].value;
  compute_statistics(report);
  CHECK_FALSE(report.arms[1].p_choices); // equal arms have no answer to weaken
}

TEST_CASE("where an answer is found, spreads that differ are warned of", "[report]") {
  // The arm's spread is 26 times the reference's. Its differences less their mean are largest where the reference's
  // are.
  const ReportData report = sweep_with("norm = post", {2, 4, 9, 10, 12, 15});
  CHECK(report.arms[1].comparison->answer == statistics::Answer::differs);
  CHECK(*report.arms[1].comparison->p_spreads <= 0.1);
  CHECK_THAT(note(report, "spreads").value().text, Contains("norm = post"));
  CHECK_FALSE(note(sweep_with("norm = post", {3, -2, 2.9, 3.05, 0, 7}), "spreads")); // undecided
  CHECK_FALSE(note(sweep_with("norm = post", clear), "spreads"));
}

TEST_CASE("a difference within the margin is the same, and said to be there", "[report]") {
  ReportData report = sweep_with("heads = 8", {0.010, 0.012, 0.011, 0.010, 0.013, 0.011});
  report.margin = 0.05;
  compute_statistics(report);
  CHECK(answer(report) == AnswerWord::same);
  CHECK_THAT(sentence(report), Contains("margin of 0.05 nats") && Contains("difference is found (p = 0.031)"));
  // The note of the table gives "same" its priority.
  const std::string words = note(report, "answer").value().text;
  CHECK(words.find("same if ") < words.find("better or worse if p is at most 0.05"));
}

TEST_CASE("of a group, the sentence names it, and the comparison is with the group's reference", "[report]") {
  ReportData report = sweep_with("score = additive", {0.31, 0.30, 0.29, 0.31, 0.30, 0.29});
  report.within = {{"task.copy.length", "length"}};
  for (ReportArm& arm : report.arms) arm.group = {"64"};
  report.arms[0].name = "reference";
  report.arms[1].name = "score = additive";
  CHECK_THAT(sentence(report), Catch::StartsWith("At length = 64, score = additive is worse: "));
}

TEST_CASE("an arm whose runs all failed is said to have failed, with the first reason", "[report]") {
  ReportData report = sweep_with("norm = none", {1, 2, 3, 4, 5, 6});
  for (ReportRun& run : report.arms[1].runs) fail(run, "step 22: the loss is not finite");
  compute_statistics(report);
  CHECK(answer(report) == AnswerWord::none);
  CHECK_THAT(sentence(report), Catch::StartsWith("norm = none can't be compared: all of its runs failed") &&
                                   Contains("\"step 22: the loss is not finite\""));
  std::swap(report.arms[0].runs, report.arms[1].runs);
  compute_statistics(report);
  CHECK(answer(report) == AnswerWord::none);
  CHECK_THAT(sentence(report), Catch::StartsWith("norm = none can't be compared: all runs of its reference failed") &&
                                   Contains("\"step 22: the loss is not finite\""));
}

TEST_CASE("what was known when a sweep was planned is said", "[report]") {
  ReportData report = sweep_with("norm = post", clear);
  report.hash = "0123456789ab";
  CHECK_THAT(note(report, "plan").value().text, Contains("0123456789ab") && !Contains("UTC"));
  report.frozen = Frozen{"2026-11-22T10:15:00Z", 0, 12};
  CHECK_THAT(note(report, "plan").value().text,
             Contains("0123456789ab, frozen 2026-11-22 10:15 UTC, before any of its runs"));
  CHECK(provenance_warnings(report).empty());
  report.frozen->finished = 7;
  report.earlier = {{"scores-ba9876543210", "2026-11-20T08:00:00Z", 7, {"seeds 6 -> 10", "margin none -> 0.01"}}};
  CHECK_THAT(note(report, "plan").value().text, Contains("after some of its runs"));
  REQUIRE(provenance_warnings(report).size() == 1);
  const std::string late = provenance_warnings(report)[0];
  for (const char* part : {"7 of its 12 runs", "2026-11-22 10:15 UTC", "7 of them", "scores-ba9876543210",
                           "2026-11-20 08:00 UTC", "seeds 6 -> 10, margin none -> 0.01", "from 5 %"})
    CHECK_THAT(late, Contains(part));
  CHECK_THAT(render_markdown(report), Contains(late));

  // Every format says it before its table.
  report.arms[1].runs[0].exclusion = RunExclusion::gone;
  report.arms[1].runs[1].exclusion = RunExclusion::unusable;
  compute_statistics(report);
  CHECK(provenance_warnings(report).size() == 3);
  for (const std::string& text : {render_terminal(report, Style{}), render_markdown(report), render_latex(report)}) {
    const auto at = [&](const std::string& part) { return text.find(part); };
    CHECK(at("Planned after results: ") < at("Gone: 1 run "));
    CHECK(at("Gone: 1 run ") < at("Left out: 1 run "));
    CHECK(at("Left out: 1 run ") < std::min(at("val_loss"), at("val\\_loss")));
  }
  CHECK(boost::json::serialize(report_document(report)).find("\"warnings\":[\"Planned") != std::string::npos);
}

TEST_CASE("an accuracy's interval ends where accuracies do", "[report]") {
  ReportData report = sweep_with("norm = post", {-0.99, -0.95, -0.99, -0.97, -0.5, -0.48, -0.5});
  report.metric = {"val_accuracy", Direction::higher, "", "fraction that is right", 0, 1};
  // Further arms that are as clear but have other signs widen the intervals of all arms.
  for (std::size_t arm = 0; arm < 4; ++arm) {
    report.arms.push_back(report.arms[0]);
    for (std::size_t i = 0; i < 7; ++i)
      *report.arms.back().runs[i].value += (i == arm || i == arm + 2 || i == arm + 3 ? -0.1 : 0.1) +
                                           0.001 * static_cast<double>(i);
  }
  compute_statistics(report);
  REQUIRE(report.arms[1].comparison->interval);
  CHECK(report.arms[1].comparison->interval->low == -1);
  CHECK(report.arms[1].comparison->interval->high <= 1);
  report.metric.high = std::numeric_limits<double>::infinity();
  compute_statistics(report);
  CHECK(report.arms[1].comparison->interval->low < -1.1);
}
