// Tests of the sentences that state a sweep's findings.
#include "experiments/report/answers.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <string>
#include <vector>

using namespace heed;

namespace {

/// A sweep whose reference has the values 1.0, 1.1, ... and whose arm differs from it by `differences`, one for each
/// seed.
ReportData sweep(const std::string& label, const std::vector<double>& differences) {
  ReportData report;
  report.metric = {"val_loss", Direction::lower, "nats", "cross-entropy"};
  ReportArm reference, arm;
  reference.label = "reference";
  arm.label = label;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    ReportRun run;
    run.seed = static_cast<std::int64_t>(i);
    run.state = RunState::finished;
    run.value = 1.0 + 0.1 * static_cast<double>(i);
    report.seeds.push_back(run.seed);
    reference.runs.push_back(run);
    *run.value += differences[i];
    arm.runs.push_back(run);
  }
  report.arms = {reference, arm};
  compute_statistics(report);
  return report;
}

std::string sentence(const ReportData& report) { return answer_sentence(report, report.arms[1], TableDigits(report)); }

const std::vector<double> clear{0.30, 0.33, 0.29, 0.31, 0.27, 0.34};
const std::vector<double> unclear{0.30, -0.20, 0.30, -0.03, -0.10, 0.20};

std::vector<double> negative(std::vector<double> values) {
  for (double& x : values) x = -x;
  return values;
}

} // namespace

TEST_CASE("an ablation that differs is told by what it costs", "[report]") {
  // With six differences, the sign-flip confidence interval at 5 % reaches from the smallest to the largest.
  CHECK(sentence(sweep("without residual", clear)) == "The model without residual connections is worse: val_loss is "
                                                      "0.307 nats higher [0.270, 0.340], p = 0.031, n = 6.");
}

TEST_CASE("costs and gains follow the metric's direction", "[report]") {
  CHECK(sentence(sweep("score = additive", negative(clear))) ==
        "score = additive is better: val_loss is 0.307 nats lower [0.270, 0.340], p = 0.031, n = 6.");
  ReportData accuracy = sweep("score = additive", clear);
  accuracy.metric = {"val_accuracy", Direction::higher, "", "fraction that is right"};
  CHECK(sentence(accuracy) ==
        "score = additive is better: val_accuracy is 0.307 higher [0.270, 0.340], p = 0.031, n = 6.");
  accuracy = sweep("score = additive", negative(clear));
  accuracy.metric = {"val_accuracy", Direction::higher, "", "fraction that is right"};
  CHECK(sentence(accuracy) ==
        "score = additive is worse: val_accuracy is 0.307 lower [0.270, 0.340], p = 0.031, n = 6.");
}

TEST_CASE("what can't be told from the reference is not said to be the same", "[report]") {
  // p: in 32 of the 64 flips, |sum| >= 0.47 (a loop in Python).
  ReportData report = sweep("norm = post", unclear);
  // 1.7927 standard deviations, where Phi(d)^6 + Phi(-d)^6 = 0.8: 0.3879, by SciPy and Python's statistics.
  CHECK(sentence(report) == "norm = post is undecided (no difference from the reference is shown): +0.08 nats [-0.20, "
                            "0.30], p = 0.50, n = 6. "
                            "A true difference of 0.39 nats would be found in 80 of 100 such sweeps.");
  report.margin = 0.05;
  compute_statistics(report);
  CHECK(sentence(report) ==
        "norm = post is undecided (neither different from the reference nor the same within 0.05 nats): "
        "+0.08 nats [-0.20, 0.30], p = 0.50, n = 6. A true difference of 0.39 nats would be found in 80 of 100 such "
        "sweeps.");
}

TEST_CASE("the difference that would have been found goes by the test and the number of arms", "[report]") {
  const std::vector<double> ten{0.30, -0.20, 0.30, -0.03, -0.10, 0.20, 0.1, -0.2, 0.05, -0.15};
  ReportData report = sweep("norm = post", ten);
  const double spread = 0.193967351; // Python's statistics.stdev
  CHECK(*report.arms[1].smallest_found == Approx(0.9960014 * spread).epsilon(1e-5));
  for (int more = 0; more < 4; ++more) report.arms.push_back(report.arms[1]);
  compute_statistics(report);
  CHECK(*report.arms[1].smallest_found == Approx(1.3320321 * spread).epsilon(1e-5)); // at 1 %
  CHECK_FALSE(report.arms[0].smallest_found);

  report = sweep("norm = post", {0.30, -0.20, 0.25, -0.10});
  report.test = statistics::Test::unpaired;
  compute_statistics(report);
  // Four runs that must be separated: 2.8806675 times the two arms' pooled standard deviation, sqrt((0.129099^2 +
  // 0.232289^2) / 2).
  REQUIRE(report.arms[1].comparison->answer == statistics::Answer::undecided);
  CHECK(*report.arms[1].smallest_found == Approx(2.8806675 * 0.187916205).epsilon(1e-5));

  CHECK_FALSE(sweep("without residual", clear).arms[1].smallest_found);
  CHECK_FALSE(sweep("without residual", {0.3, 0.2}).arms[1].smallest_found);
  CHECK_FALSE(sweep("without residual", std::vector<double>(6, 0.0)).arms[1].smallest_found);
}

TEST_CASE("the same within the margin is an answer of its own", "[report]") {
  ReportData report = sweep("heads = 8", {0.01, -0.02, 0.015, -0.01, 0.02, -0.01});
  report.margin = 0.05;
  compute_statistics(report);
  // In one flip of 64, all differences are within the margin.
  CHECK(sentence(report) ==
        "heads = 8 is the same as the reference: the difference, +0.001 nats, is within the margin of 0.05 nats "
        "(equivalence test: p = 0.016, n = 6; 90 % interval of the difference, not corrected for other arms: [-0.015, "
        "0.015]). None of its 6 runs "
        "failed; with 6 runs, a rate of failure up to 39 % can't be excluded (95 % bound).");
}

TEST_CASE("arms of which half the seeds learned leave the others' intervals of use", "[report]") {
  ReportData report = sweep("without residual", clear);
  for (const double odd : {0.1, 0.2, 0.3}) {
    ReportArm arm = sweep("rate", {3, 0, 3 - odd, 0, 0, 3}).arms[1];
    arm.label = "odd";
    report.arms.push_back(arm);
  }
  compute_statistics(report);
  CHECK(sentence(sweep("without residual", clear)) == "The model without residual connections is worse: val_loss is "
                                                      "0.307 nats higher [0.270, 0.340], p = 0.031, n = 6.");
  CHECK(sentence(report) == "The model without residual connections is worse: val_loss is 0.307 nats higher [0.260, "
                            "0.354], p = 0.031, n = 6.");
}

TEST_CASE("too few seeds give no answer, and how many would", "[report]") {
  CHECK(sentence(sweep("without scale", {0.30, 0.33, 0.29, 0.31, 0.27})) ==
        "The model without scale is underpowered: with n = 5, p cannot be below 0.0625; at least 6 seeds are needed. "
        "So far "
        "+0.300 nats "
        "(Student's interval, not corrected for other arms: [0.272, 0.328]).");
  CHECK(sentence(sweep("without scale", {0.25})) ==
        "The model without scale is underpowered: with n = 1, p cannot be below 1; "
        "at least 6 seeds are needed. So far +0.2500 nats.");
}

TEST_CASE("p from a sample of the flips is called approximate", "[report]") {
  std::vector<double> many;
  for (int i = 0; i < 24; ++i) many.push_back(0.3 + 0.001 * i);
  CHECK(sentence(sweep("without residual", many)).find("p <= 1e-05 (approximate), n = 24.") != std::string::npos);
}

TEST_CASE("what is the same number in every seed is equal, and no difference is told", "[report]") {
  ReportData report = sweep("without scale", {0, 0, 0, 0, 0, 0});
  const std::string equal =
      "The model without scale is equal to the reference, bit for bit: both have the same val_loss in ";
  CHECK(sentence(report) == equal + "each of 6 seeds.");
  report.margin = 0.05;
  compute_statistics(report);
  CHECK(sentence(report) == equal + "each of 6 seeds.");
  CHECK(sentence(sweep("without scale", {0})) == equal + "the one seed.");
  // Differences with mean 0 give no such statement.
  CHECK_THAT(sentence(sweep("without scale", {0.5, -0.5, 0.5, -0.5, 0.5, -0.5})), Catch::Contains("is undecided"));
}

TEST_CASE("differences too small for decimals are told by powers of ten", "[report]") {
  CHECK_THAT(sentence(sweep("heads = 8", {3e-8, 4e-8, 2e-8, 3e-8, 5e-8, 3e-8})),
             Catch::Contains("is worse: val_loss is 3.3e-08 nats higher [2.0e-08, 5.0e-08]"));
}

TEST_CASE("nothing is said of the reference, nor of an arm without a pair", "[report]") {
  ReportData report = sweep("without scale", clear);
  CHECK(answer_sentence(report, report.arms[0], TableDigits(report)).empty());
  for (ReportRun& run : report.arms[1].runs) run.value.reset();
  compute_statistics(report);
  CHECK(sentence(report) ==
        "The model without scale can't be compared: no seed has a result both here and in the reference. 6 of 6 "
        "seeds are excluded (runs that failed, cannot be used, or have no result).");
  for (ReportRun& run : report.arms[1].runs) run.state = RunState::missing;
  compute_statistics(report);
  CHECK(sentence(report) ==
        "The model without scale can't be compared yet: no seed has finished both here and in the reference.");
}

TEST_CASE("the sentences stand under the table, in the terminal and in Markdown", "[report]") {
  const ReportData report = sweep("without residual", clear);
  const std::string said = "The model without residual connections is worse: val_loss is 0.307 nats higher [0.270, "
                           "0.340], p = 0.031, n = 6.\n";
  CHECK(render_terminal(report, Style{}).find("\n  " + said) != std::string::npos);
  CHECK(render_markdown(report).find("\n- " + said) != std::string::npos);
}

TEST_CASE("seeds whose runs failed are counted, since arms that diverge look better without them", "[report]") {
  ReportData report = sweep("score = additive", {0.30, 0.33, 0.29, 0.31, 0.27, 0.34, 0.30, 0.30});
  report.arms[1].runs[6].state = RunState::failed;
  report.arms[1].runs[6].value.reset();
  report.arms[0].runs[7].exclusion = RunExclusion::unusable;
  report.arms[0].runs[7].value.reset();
  compute_statistics(report);
  CHECK(sentence(report) ==
        "score = additive is worse: val_loss is 0.307 nats higher [0.270, 0.340], p = 0.031, n = 6. 2 of 8 seeds are "
        "excluded "
        "(runs that failed, cannot be used, or have no result). If failed runs count as the worst of all, p = 0.016 "
        "(ranks, not corrected for other arms): the answer holds.");
}

TEST_CASE("an arm that gains where it does not fail is not said to gain without a word", "[report]") {
  ReportData report = sweep("score = additive", {-0.3, -0.33, -0.29, -0.31, -0.27, -0.34, 0, 0, 0});
  for (std::size_t i = 6; i < 9; ++i) {
    report.arms[1].runs[i].state = RunState::failed;
    report.arms[1].runs[i].value.reset();
  }
  compute_statistics(report);
  CHECK_THAT(sentence(report), Catch::Contains(" is better: val_loss is 0.307 nats lower") &&
                                   Catch::Contains("the answer does not hold, and no difference is shown."));
  // The same runs, but every seed of the reference failed there, too: the comparison loses nothing.
  for (std::size_t i = 6; i < 9; ++i) {
    report.arms[0].runs[i].state = RunState::failed;
    report.arms[0].runs[i].value.reset();
  }
  compute_statistics(report);
  CHECK_THAT(sentence(report), Catch::Contains("p = 0.031 (ranks, not corrected for other arms): the answer holds."));
}

TEST_CASE("where some seeds learn and some don't, their shares come first", "[report]") {
  ReportData report = sweep("norm = post", {0, 0, 0, 0, 0, 0});
  report.metric = {"val_accuracy", Direction::higher, "", "fraction that is right"};
  const std::vector<double> reference{0.99, 0.98, 1.0, 0.99, 0.98, 0.99}, arm{0.99, 0.12, 0.98, 0.15, 0.99, 0.98};
  for (std::size_t i = 0; i < 6; ++i) {
    report.arms[0].runs[i].value = reference[i];
    report.arms[1].runs[i].value = arm[i];
  }
  compute_statistics(report);
  // SciPy 1.17.1: fisher_exact([[4, 2], [6, 0]]), binomtest(4, 6).proportion_ci().
  CHECK_THAT(sentence(report),
             Catch::StartsWith(
                 "norm = post: 4 of 6 seeds learned (67 % [22, 96]; val_accuracy >= 0.565, a threshold from the gap in "
                 "these runs), and 6 of 6 of the reference, p = 0.45 (Fisher). norm = post is undecided"));
  report.learned = 0.985;
  compute_statistics(report);
  CHECK_THAT(sentence(report), Catch::StartsWith("norm = post: 2 of 6 seeds learned (33 % [4, 78]; val_accuracy >= "
                                                 "0.985), and 4 of 6 of the reference, p = 0.57 (Fisher). "));
  report.learned = 0.1; // all learned: no statement
  compute_statistics(report);
  CHECK_THAT(sentence(report), Catch::StartsWith("norm = post is undecided"));
  CHECK(report.arms[1].learned->arm.seeds == 6);
}

TEST_CASE("outcomes that are one heap have no learned seeds", "[report]") {
  const ReportData report = sweep("norm = post", clear); // all of the arm's values are separated from the reference's
  CHECK_FALSE(report.arms[1].learned);
}

TEST_CASE("unpaired runs are told by both numbers of runs", "[report]") {
  ReportData report = sweep("norm = post", {3, 3.1, 2.9, 3.05});
  report.arms[0].runs.push_back(report.arms[0].runs.back());
  report.arms[0].runs.back().seed = 77;
  report.test = statistics::Test::unpaired;
  compute_statistics(report);
  CHECK_THAT(sentence(report), Catch::EndsWith("p = 0.0079, n = 4 and 5 (reference).")); // 1 of 126
  CHECK_THAT(render_terminal(report, Style{}), Catch::Contains("permutations of which runs are the arm's"));
}

TEST_CASE("Fisher's p is corrected for the number of arms, with or without such a p", "[report]") {
  ReportData report = sweep("norm = post", {0, 0, 0, 0, 0, 0, 0, 0});
  report.metric = {"val_accuracy", Direction::higher, "", "fraction that is right", 0, 1};
  for (std::size_t i = 0; i < 8; ++i) {
    report.arms[0].runs[i].value = 0.9 + 0.001 * static_cast<double>(i);
    report.arms[1].runs[i].value = i < 3 ? 0.9 : 0.1;
  }
  compute_statistics(report);
  CHECK(report.arms[1].learned->p == Approx(0.025641025641025644)); // SciPy 1.17.1: fisher_exact([[3, 5], [8, 0]])
  CHECK_THAT(sentence(report), Catch::Contains("p = 0.026 (Fisher). "));
  for (int more = 0; more < 2; ++more) { // two arms of which all seeds learn
    report.arms.push_back(report.arms[0]);
    report.arms.back().label = "other";
  }
  compute_statistics(report);
  CHECK(report.arms[1].learned->p == Approx(3 * 0.025641025641025644));
  CHECK_THAT(sentence(report), Catch::Contains("p = 0.077 (Fisher, corrected for 3 arms). "));
}

TEST_CASE("a found answer of tuned arms says what p is if their choices are noise", "[report]") {
  ReportData report = sweep("heads = 8", clear);
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
  CHECK_THAT(sentence(report),
             Catch::Contains(" If the tuning is repeated with simulated noise, another setting is chosen in ") &&
                 Catch::Contains(" %). With this as further noise, p "));
  for (ArmTuning& arm : report.tuning->arms) arm.trials.resize(1); // nothing to choose
  compute_statistics(report);
  CHECK(report.arms[1].p_choices == report.arms[1].comparison->p);
  CHECK_THAT(sentence(report), Catch::EndsWith(" it always chooses the same settings."));
  for (ReportRun& run : report.arms[1].runs) run.value = *report.arms[0].runs[static_cast<std::size_t>(run.seed)].value;
  compute_statistics(report);
  CHECK_FALSE(report.arms[1].p_choices); // equal arms have no answer to weaken
}

TEST_CASE("where an answer is found, spreads that differ are warned of", "[report]") {
  // The arm's spread is 26 times the reference's. Its differences less their mean are largest where the reference's
  // are.
  const ReportData report = sweep("norm = post", {2, 4, 9, 10, 12, 15});
  CHECK(report.arms[1].comparison->answer == statistics::Answer::differs);
  CHECK(*report.arms[1].comparison->p_spreads <= 0.1);
  CHECK_THAT(render_markdown(report),
             Catch::Contains("spreads: the standard deviation of norm = post differs from the reference's"));
  CHECK_THAT(render_markdown(sweep("norm = post", {3, -2, 2.9, 3.05, 0, 7})),
             !Catch::Contains("spreads:")); // undecided
  CHECK_THAT(render_markdown(sweep("norm = post", clear)), !Catch::Contains("spreads:"));
}

TEST_CASE("a difference within the margin is the same, and said to be there", "[report]") {
  ReportData report = sweep("heads = 8", {0.010, 0.012, 0.011, 0.010, 0.013, 0.011});
  report.margin = 0.05;
  compute_statistics(report);
  CHECK_THAT(sentence(report),
             Catch::Contains("is within the margin of 0.05 nats") &&
                 Catch::Contains(" A difference is found (p = 0.031), but it is smaller than the margin."));
  // The note of the table gives "same" its priority.
  const std::string table = render_markdown(report);
  CHECK(table.find("same if two one-sided tests") < table.find("otherwise differs if p is at most 0.05"));
}

TEST_CASE("of a group, the sentence names it, and the comparison is with the group's reference", "[report]") {
  ReportData report = sweep("score = additive", {0.31, 0.30, 0.29, 0.31, 0.30, 0.29});
  report.within = {{"task.copy.length", "length"}};
  for (ReportArm& arm : report.arms) arm.group = {"64"};
  report.arms[0].name = "reference";
  report.arms[1].name = "score = additive";
  CHECK_THAT(sentence(report), Catch::StartsWith("At length = 64, score = additive is worse: "));
  report.arms[1].name = "without scale";
  CHECK_THAT(sentence(report), Catch::StartsWith("At length = 64, the model without scale is worse: "));
}

TEST_CASE("an arm whose runs all failed is said to have failed", "[report]") {
  ReportData report = sweep("norm = none", {1, 2, 3, 4, 5, 6});
  for (ReportRun& run : report.arms[1].runs) {
    run.state = RunState::failed;
    run.value.reset();
    run.problem = "step 22: the loss is not finite";
  }
  compute_statistics(report);
  CHECK(sentence(report) ==
        "norm = none can't be compared: all of its runs failed, the first with \"step 22: the loss is not finite\".");
  std::swap(report.arms[0].runs, report.arms[1].runs);
  compute_statistics(report);
  CHECK(sentence(report) ==
        "norm = none can't be compared: all runs of its reference failed, the first with \"step 22: "
        "the loss is not finite\".");
}

TEST_CASE("what was known when a sweep was planned is said", "[report]") {
  ReportData report = sweep("norm = post", clear);
  report.hash = "0123456789ab";
  CHECK_THAT(render_markdown(report), Catch::Contains("plan: 0123456789ab, of a version that did not keep "));
  report.frozen = Frozen{"2026-11-22T10:15:00Z", 0, 12};
  CHECK_THAT(render_markdown(report),
             Catch::Contains("plan: 0123456789ab, frozen 2026-11-22 10:15 UTC, before any of its "
                             "runs had finished."));
  report.frozen->finished = 7;
  report.earlier = {{"scores-ba9876543210", "2026-11-20T08:00:00Z", 7, {"seeds 6 -> 10", "margin none -> 0.01"}}};
  const std::string late =
      "Planned after results: 7 of its 12 runs had finished when this plan was frozen (2026-11-22 "
      "10:15 UTC), 7 of them are runs of scores-ba9876543210 (2026-11-20 08:00 UTC; changed since: "
      "seeds 6 -> 10, margin none -> 0.01). A choice that is made after seeing results raises the "
      "chance of a false difference from 5 %";
  CHECK_THAT(render_markdown(report), Catch::Contains(late) && Catch::Contains("as said at the top."));

  // Every format says it before its table.
  report.arms[1].runs[0].exclusion = RunExclusion::gone;
  report.arms[1].runs[1].exclusion = RunExclusion::unusable;
  compute_statistics(report);
  CHECK(provenance_warnings(report).size() == 3);
  for (const std::string& text : {render_terminal(report, Style{}), render_markdown(report), render_latex(report)}) {
    const auto at = [&](const std::string& part) { return text.find(part); };
    CHECK(at("Planned after results: ") < at("Gone: 1 run was finished"));
    CHECK(at("Gone: 1 run was finished") < at("Left out: 1 run is in no number"));
    CHECK(at("Left out: 1 run is in no number") < std::min(at("val_loss"), at("val\\_loss")));
  }
  CHECK(boost::json::serialize(report_document(report)).find("\"warnings\":[\"Planned") != std::string::npos);
}

TEST_CASE("an accuracy's interval ends where accuracies do", "[report]") {
  ReportData report = sweep("norm = post", {-0.99, -0.95, -0.99, -0.97, -0.5, -0.48, -0.5});
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
