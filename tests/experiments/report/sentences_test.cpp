// The words of reports: each kind of answer, remark, warning and note once, word by word. Other tests of reports do not
// pin sentences. They assert answers, numbers, and which notes there are (made_up_sweep.hpp).
#include "experiments/report/figures.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/tables.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/made_up_sweep.hpp"

#include <cmath>
#include <fmt/format.h>
#include <string>
#include <vector>

using namespace heed;
using test::loss;
using test::note;
using test::sentence;
using test::sweep_of;
using test::sweep_with;
using test::Values;
using Sentences = std::vector<std::string>;

namespace {

const Values clear{0.30, 0.33, 0.29, 0.31, 0.27, 0.34}, unclear{0.30, -0.20, 0.30, -0.03, -0.10, 0.20},
    little{0.01, -0.02, 0.015, -0.01, 0.02, -0.01}, none(6, 0);

const Metric accuracy{"val_accuracy", Direction::higher, "", "fraction that is right", 0, 1};
const Metric steps{"steps_to(val_loss, 1.0)", Direction::lower, "steps", "steps to a val_loss of 1", 0, 50};
const Task::Chance eight{0.125, "1 / symbols", Task::Level{std::pow(8.0, -8.0), "(1 / symbols)^8"},
                         Task::Level{std::log(8.0), "ln 8"}};
const Values guessing{0.12, 0.13, 0.126, 0.124, 0.121, 0.127}, learned{0.9, 0.92, 0.91, 0.93, 0.9, 0.94}, all(6, 1.0);

Values negative(Values values) {
  for (double& x : values) x = -x;
  return values;
}

/// The report with another margin, test and so on, which `change` sets.
template <class Change> ReportData with(ReportData report, const Change& change) {
  change(report);
  compute_statistics(report);
  return report;
}
ReportData with_margin(ReportData report, double margin) {
  return with(std::move(report), [&](ReportData& r) { r.margin = margin; });
}
ReportData unpaired(ReportData report) {
  return with(std::move(report), [](ReportData& r) { r.test = statistics::Test::unpaired; });
}

/// Seeds 0 to n - 1 have finished, of ten with looks at 6 and 10.
ReportData looked_at(std::size_t n, const Values& differences) {
  return with(sweep_with("a", differences), [&](ReportData& report) {
    report.looks = {6, 10};
    for (ReportArm& arm : report.arms)
      for (std::size_t seed = n; seed < arm.runs.size(); ++seed) {
        arm.runs[seed] = {};
        arm.runs[seed].id = "0123456789abcdef";
        arm.runs[seed].seed = static_cast<std::int64_t>(seed);
      }
  });
}
const Values at_six{0.30, 0.33, 0.29, 0.31, 0.27, 0.34, -0.9, 0.4, -0.7, 0.3},
    at_ten{0.30, -0.02, 0.29, 0.31, 0.27, 0.34, 0.30, 0.32, 0.28, 0.31},
    same_at_six{0.01, -0.01, 0.02, -0.02, 0.01, -0.01, 0.9, 0.9, 0.9, 0.9},
    other_side{0.30, 0.33, 0.29, 0.31, 0.27, 0.34, -0.9, -0.9, -0.9, -0.9};

/// Score and heads crossed: the effects of both alone are 0.10 and 0.05, and together they add these values.
ReportData crossed(const Values& beyond) {
  const PlannedChange score{"attention.score", "additive"}, heads{"model.heads", "8"};
  Values reference, a, b, both;
  for (std::size_t i = 0; i < beyond.size(); ++i) {
    reference.push_back(1.0 + 0.1 * static_cast<double>(i));
    a.push_back(reference.back() + 0.10);
    b.push_back(reference.back() + 0.05);
    both.push_back(reference.back() + 0.15 + beyond[i]);
  }
  return with(sweep_of(loss, {{"reference", reference}, {"score = additive", a}, {"heads = 8", b}, {"both", both}}),
              [&](ReportData& report) {
                report.arms[1].changes = {score};
                report.arms[2].changes = {heads};
                report.arms[3].changes = {score, heads};
              });
}
std::string interaction(const ReportData& report) { return interaction_sentence(report, report.interactions.at(0)); }

ReportData tuned(const Values& trials) {
  return with(sweep_with("heads = 8", clear), [&](ReportData& report) {
    report.tuning = Tuning{
        .seeds = {100}, .options = {{"train.learning_rate", {"0.1", "0.2", "0.3"}, true}}, .runs = {}, .arms = {}};
    for (int i = 0; i < 2; ++i) {
      ArmTuning arm;
      for (const double value : trials) {
        Trial& trial = arm.trials.emplace_back();
        trial.value = value;
        trial.point = {{"train.learning_rate", fmt::format("{:g}", 0.1 * static_cast<double>(arm.trials.size()))}};
      }
      arm.chosen = 0;
      report.tuning->arms.push_back(arm);
    }
  });
}

/// Results of a table, paired by these columns.
ReportData of_table(const std::string& paired_by) {
  return with(sweep_with("a", clear), [&](ReportData& report) {
    report.table = ReportTable{"r.csv", paired_by, "accuracy is \"acc\", and the arm is \"model\"", {}};
  });
}

/// All runs of the arm but one rank before the reference's. That one never gets there, which makes the mean larger.
ReportData contradicting() {
  return sweep_of(steps, {{"reference", Values(12, 21)}, {"a", {20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 50}}});
}

// What several sentences share.
const std::string
    end_at_zero = " p can find a difference that the joint interval does not yet show; then the end nearest to 0 is "
                  "printed as 0 with a round bracket, as in (0, 0.1].",
    all_together = " A flip changes a seed's sign in all arms together. By the step-down max-|t| method, corrected for "
                   "the number of arms.",
    by_ranks = " p is by ranks. The mean and its interval depend on this number.",
    if_worst = " seeds are excluded (runs that failed, cannot be used, or have no result). If failed runs count as the "
               "worst of all, p = ",
    or_undecided = "; otherwise undecided, which is no evidence that there is no difference.",
    planned_late = " A choice that is made after seeing results raises the chance of a false difference from 5 % to "
                   "between 7 and 16 %.",
    try_another = " This task can't tell them apart. Try another train.learning_rate, a model.init_std close to 1 / "
                  "sqrt(model.width), or more train.steps.",
    of_two_groups = "two groups of runs are seen where the widest gap is at least three times as wide as each group. "
                    "One skewed group of 12 runs looks like two in 1 to 6 of 100 sweeps; ",
    as_planned = "planned at 6, 10 seeds, where p may be 0.0354, 0.0146: together a 5 % chance of a false difference; ",
    at_chance_if = " is at chance if two conditions hold: none of its runs is more than 5 % of the way from guessing "
                   "to the best possible value, ",
    in_mean = "; and the mean of its runs is at most 1 % of this way, or Student's 95 % interval of the mean includes "
              "the value of guessing.",
    made_elsewhere = "Made elsewhere: these results were read from r.csv; Heed did not make the runs. No plan was "
                     "frozen before them, so nobody knows whether all runs are shown, nor whether metric, reference "
                     "and margin were chosen before the results were seen. p and intervals assume both.",
    none_failed =
        " None of its 6 runs failed; with 6 runs, a rate of failure up to 39 % can't be excluded (95 % bound).",
    band_of_seeds = "val_loss by training step: the mean over seeds, and the band from the lowest to the highest.",
    if_independent = ". p assumes that they are independent; folds of one data set share most of their rows, so p of "
                     "folds is too small.",
    may_change =
        " finished, so answers may change, and p holds for one look at a number of seeds that was fixed beforehand.";

std::string text(const ReportData& report, const std::string& name) {
  const auto found = note(report, name);
  return found ? found->text : "";
}
std::string claim(const ReportData& report, const std::string& name) {
  const auto found = note(report, name);
  return found ? found->claim : "";
}

} // namespace

TEST_CASE("the sentence of each answer", "[report][sentences]") {
  // With six differences, the sign-flip confidence interval at 5 % reaches from the smallest to the largest.
  CHECK(sentence(sweep_with("score = additive", clear)) ==
        "score = additive is worse: val_loss is 0.307 nats higher [0.270, 0.340], p = 0.031, n = 6.");
  CHECK(sentence(sweep_with("score = additive", negative(clear))) ==
        "score = additive is better: val_loss is 0.307 nats lower [0.270, 0.340], p = 0.031, n = 6.");
  const auto of_accuracy = [](ReportData& report) { report.metric = accuracy; };
  CHECK(sentence(with(sweep_with("a", clear), of_accuracy)) ==
        "a is better: val_accuracy is 0.307 higher [0.270, 0.340], p = 0.031, n = 6.");
  CHECK(sentence(with(sweep_with("a", negative(clear)), of_accuracy)) ==
        "a is worse: val_accuracy is 0.307 lower [0.270, 0.340], p = 0.031, n = 6.");
  CHECK(sentence(with(sweep_with("a", clear), [](ReportData& r) { r.metric.direction = Direction::none; })) ==
        "a differs: val_loss is 0.307 nats higher [0.270, 0.340], p = 0.031, n = 6.");
  CHECK(sentence(with_margin(sweep_with("heads = 8", little), 0.05)) ==
        "heads = 8 is the same as the reference: the difference, +0.001 nats [-0.015, 0.015], is within the margin of "
        "0.05 nats (equivalence test: p = 0.016, n = 6)." +
            none_failed);
  CHECK(sentence(with_margin(sweep_with("heads = 8", {0.010, 0.012, 0.011, 0.010, 0.013, 0.011}), 0.05)) ==
        "heads = 8 is the same as the reference: the difference, +0.0112 nats [0.0000, 0.0120], is within the margin "
        "of 0.05 nats (equivalence test: p = 0.016, n = 6). A difference is found (p = 0.031), but it is smaller than "
        "the margin." +
            none_failed);
  CHECK(sentence(sweep_with("norm = post", unclear)) ==
        "norm = post is undecided (no difference from the reference is shown): +0.08 nats [-0.20, 0.30], p = 0.50, n = "
        "6. With the spread at its upper 80 % bound, a true difference of 0.57 nats would be found in 80 of 100 such "
        "sweeps.");
  CHECK(sentence(with_margin(sweep_with("norm = post", unclear), 0.05)) ==
        "norm = post is undecided (neither different from the reference nor the same within 0.05 nats): +0.08 nats "
        "[-0.20, 0.30], p = 0.50, n = 6. With the spread at its upper 80 % bound, a true difference of 0.57 nats would "
        "be found in 80 of 100 such sweeps.");
  CHECK(sentence(sweep_with("a", none)) ==
        "a is equal to the reference, bit for bit: both have the same val_loss in each of 6 seeds.");
  CHECK(sentence(sweep_with("a", {0})) ==
        "a is equal to the reference, bit for bit: both have the same val_loss in the one seed.");
  CHECK(sentence(with(sweep_with("a", Values(6, 1e-9)), [](ReportData& r) { r.resolution = 0x1p-23; })) ==
        "a is equal to the reference but for rounding: both have the same val_loss in each of 6 seeds.");
  CHECK(sentence(sweep_with("a", {0.30, 0.33, 0.29, 0.31, 0.27})) ==
        "a is underpowered: with n = 5, p cannot be below 0.0625; at least 6 seeds are needed. So far +0.300 nats "
        "(Student's interval, not corrected for other arms: [0.272, 0.328]).");
  CHECK(sentence(sweep_with("a", {0.25})) ==
        "a is underpowered: with n = 1, p cannot be below 1; at least 6 seeds are needed. So far +0.2500 nats.");
  CHECK(sentence(sweep_with("a", Values(24, 0.3))) ==
        "a is worse: val_loss is 0.30 nats higher [0.30, 0.30], p <= 1e-05 (approximate), n = 24.");
  CHECK(sentence(unpaired(sweep_with("a", {3, 3.1, 2.9, 3.05}))) ==
        "a is worse: val_loss is 3.01 nats higher [2.70, 3.35], p = 0.029, n = 4 and 4 (reference).");
  CHECK(sentence(contradicting()) ==
        "a: 11 of 12 seeds learned (92 %, 95 % interval [62, 100]; steps_to(val_loss, 1.0) <= 35.5, a threshold from "
        "the gap in these "
        "runs), and 12 of 12 of the reference, p = 1.00 (Fisher). a is undecided (by ranks it is better, by the mean "
        "worse): +1.5 steps [-1.0, 6.5], p = 0.00098, n = 12. 1 of its 12 runs did not reach the target and was "
        "counted as 50 steps." +
            by_ranks);
}

TEST_CASE("the subjects of sentences", "[report][sentences]") {
  for (const auto& [label, words] : std::vector<std::pair<std::string, std::string>>{
           {"score = additive", "score = additive is worse: "},
           {"without scale", "The model without scale is worse: "},
           {"without residual", "The model without residual connections is worse: "},
           {"without position", "The model without positional encodings is worse: "},
           {"without norm", "The model without normalisation layers is worse: "}})
    CHECK_THAT(sentence(sweep_with(label, clear)), Catch::StartsWith(words));
  ReportData report = sweep_with("a", clear);
  report.within = {{"task.copy.length", "length"}};
  for (ReportArm& arm : report.arms) arm.group = {"64"};
  report.arms[1].name = "score = additive";
  CHECK_THAT(sentence(report), Catch::StartsWith("At length = 64, score = additive is worse: "));
  report.arms[1].name = "without scale";
  CHECK_THAT(sentence(report), Catch::StartsWith("At length = 64, the model without scale is worse: "));
}

TEST_CASE("why an arm can't be compared", "[report][sentences]") {
  const auto failed = [](std::size_t arm) {
    return with(sweep_with("norm = none", clear), [&](ReportData& report) {
      for (ReportRun& run : report.arms[arm].runs) test::fail(run, "step 22: the loss is not finite");
    });
  };
  CHECK(sentence(failed(1)) ==
        "norm = none can't be compared: all of its runs failed, the first with \"step 22: the loss is not finite\".");
  CHECK(sentence(failed(0)) == "norm = none can't be compared: all runs of its reference failed, the first with \"step "
                               "22: the loss is not finite\".");
  const auto without_values = [](RunState state) {
    return with(sweep_with("a", clear), [&](ReportData& report) {
      for (ReportRun& run : report.arms[1].runs) {
        run.state = state;
        run.value.reset();
      }
    });
  };
  CHECK(sentence(without_values(RunState::finished)) ==
        "a can't be compared: no seed has a result both here and in the reference. 6 of 6 seeds are excluded (runs "
        "that failed, cannot be used, or have no result).");
  CHECK(sentence(without_values(RunState::missing)) ==
        "a can't be compared yet: no seed has finished both here and in the reference.");
  CHECK(sentence(looked_at(5, at_six)) == "a has no answer before the first look, at 6 seeds.");
  const auto seeing = [](std::size_t arm) {
    return with(sweep_with("a", clear),
                [&](ReportData& report) { report.arms[arm].leakage = "attention.causal = false"; });
  };
  CHECK(sentence(seeing(1)) == "a can't be compared with the reference: it sees what it is to predict.");
  CHECK(sentence(seeing(0)) == "a can't be compared with the reference: that sees what it is to predict.");
}

TEST_CASE("what stands before an answer", "[report][sentences]") {
  const auto before = [](const ReportData& report) {
    return answer_parts(report, report.arms[1], TableDigits(report)).before;
  };
  CHECK(before(sweep_of(accuracy, {{"reference", guessing}, {"a", guessing}}, eight)) ==
        "Both at chance: this task can't tell them apart. ");
  CHECK(before(sweep_of(accuracy, {{"reference", all}, {"a", all}})) ==
        "Both at the ceiling: this task can't tell them apart. ");
  CHECK(before(sweep_of(loss, {{"reference", learned}, {"rate = 1e6", {2e12, 3e12, 4e12, 2e12, 4e12, 3e12}}}, eight)) ==
        "Worse than chance: training diverged, or the model fitted patterns that do not hold for other data. ");
  ReportData half = sweep_of({"val_accuracy", Direction::higher, "", "fraction that is right"},
                             {{"reference", {0.99, 0.98, 1.0, 0.99, 0.98, 0.99}},
                              {"norm = post", {0.99, 0.12, 0.98, 0.15, 0.99, 0.98}}});
  // SciPy 1.17.1: fisher_exact([[4, 2], [6, 0]]), binomtest(4, 6).proportion_ci().
  CHECK(before(half) ==
        "norm = post: 4 of 6 seeds learned (67 %, 95 % interval [22, 96]; val_accuracy >= 0.565, a threshold from the "
        "gap in these runs), and 6 of 6 of the reference, p = 0.45 (Fisher). ");
  CHECK(before(with(half, [](ReportData& report) { report.learned = 0.985; })) ==
        "norm = post: 2 of 6 seeds learned (33 %, 95 % interval [4, 78]; val_accuracy >= 0.985), and 4 of 6 of the "
        "reference, p = "
        "0.57 (Fisher). ");
  half.arms.push_back(half.arms[1]);
  CHECK(before(with(half, [](ReportData&) {})) ==
        "norm = post: 4 of 6 seeds learned (67 %, 95 % interval [22, 96]; val_accuracy >= 0.565, a threshold from the "
        "gap in these "
        "runs), and 6 of 6 of the reference, p = 0.91 (Fisher, corrected for 2 arms). ");
  CHECK(before(sweep_of({"val_perplexity", Direction::lower, "", "e to the power of val_loss", 1},
                        {{"reference", {4.1, 4.2, 4.2, 4.3, 4.3, 4.4}},
                         {"rate = 3", {1e21, 1e21, 2e21, 4e22, 4e22, 5e22}}},
                        Task::Chance{0.25, "1 / symbols", {}, Task::Level{std::log(4.0), "ln symbols"}})) ==
        "Worse than chance: training diverged, or the model fitted patterns that do not hold for other data. rate = 3: "
        "0 of 6 seeds learned (0 %, 95 % interval [0, 46]; val_perplexity <= 3.73, better than guessing), and 0 of 6 "
        "of the "
        "reference, p = 1.00 (Fisher). ");
  // Two arms at chance differ.
  CHECK(sentence(sweep_of(loss,
                          {{"reference", {2.0790, 2.0791, 2.0792, 2.0793, 2.0794, 2.0795}},
                           {"a", {2.0780, 2.0782, 2.0781, 2.0783, 2.0785, 2.0784}}},
                          eight)) ==
        "Both at chance: this task can't tell them apart. a differs from the reference by -0.00100 nats [-0.00110, "
        "-0.00090], p = 0.031, n = 6; it is neither better nor worse, since neither has learned.");
}

TEST_CASE("what stands after an answer", "[report][sentences]") {
  const auto after = [](const ReportData& report) {
    return answer_parts(report, report.arms[1], TableDigits(report)).after;
  };
  CHECK(after(looked_at(6, at_six)) == " Found at the look of 6 seeds (p 0.031 <= 0.0354).");
  CHECK(after(looked_at(10, at_six)) == " Found at the look of 6 seeds (p 0.031 <= 0.0354). Over all seeds: +0.09 nats "
                                        "[-0.43, 0.35] (98.5 % interval), p = 0.55, n = 10.");
  CHECK(after(looked_at(10, at_ten)) == " Found at the look of 10 seeds (p 0.0039 <= 0.0146).");
  CHECK(after(looked_at(10, other_side)) ==
        " Found at the look of 6 seeds (p 0.031 <= 0.0354). Over all seeds: -0.18 nats [-0.90, 0.32] (98.5 % "
        "interval), p = 0.43, n = 10; this mean is on the other side of 0, so the answer does not hold for them.");
  CHECK(after(with(looked_at(9, at_six),
                   [](ReportData& report) {
                     report.looks = {6, 8, 10};
                   })) == " Found at the look of 6 seeds (p 0.031 <= 0.0354). Over the first 8 seeds: +0.17 nats "
                          "[-0.90, 0.40] (99.2 % interval), p = 0.29, n = 8.");
  CHECK(after(with_margin(looked_at(10, same_at_six), 0.1)) ==
        " Found at the look of 6 seeds (p 0.016 <= 0.0354). Over all seeds: +0.36 nats [-0.01, 0.90] (98.5 % "
        "interval), p = 0.076, n = 10; this mean is beyond the margin, so the answer does not hold for them.");
  CHECK(after(tuned({1.0, 1.1, 2.0})) ==
        " If the tuning is repeated with simulated noise, another setting is chosen in 35 % of draws (the reference's: "
        "34 %). With this as further noise, p = 0.031: the answer holds.");
  CHECK(after(tuned({1.0, 1.25, 1.3})) ==
        " If the tuning is repeated with simulated noise, another setting is chosen in 25 % of draws (the reference's: "
        "24 %). With this as further noise, p = 0.064: the answer does not hold.");
  CHECK(after(tuned({1.0})) == " If the tuning is repeated with simulated noise, it always chooses the same settings.");
  const Values in_time(6, 30), late{30, 50, 50, 50, 50, 50}, one_late{30, 30, 30, 30, 30, 50};
  CHECK(after(sweep_of(steps, {{"reference", in_time}, {"a", late}})) ==
        " 5 of its 6 runs did not reach the target and were counted as 50 steps." + by_ranks);
  CHECK(after(sweep_of(steps, {{"reference", in_time}, {"a", one_late}})) ==
        " 1 of its 6 runs did not reach the target and was counted as 50 steps." + by_ranks);
  CHECK(after(sweep_of(steps, {{"reference", one_late}, {"a", late}})) ==
        " 5 of its 6 runs and 1 of the reference's did not reach the target and were counted as 50 steps." + by_ranks);
  CHECK(after(with_margin(sweep_of(steps, {{"reference", in_time}, {"a", late}}), 15)) ==
        " 5 of its 6 runs did not reach the target and were counted as 50 steps." + by_ranks +
            " With such runs, an arm is never called the same.");
  CHECK(after(sweep_of(steps, {{"reference", {30}}, {"a", {50}}})) ==
        " 1 of its 1 runs did not reach the target and was counted as 50 steps. p is by ranks. The mean depends on "
        "this number.");

  // With steps of 0.1, values of different seeds would differ by their rounding only, and ranks with the compiler. p by
  // NumPy: flips of the ranks, and permutations of them.
  constexpr double untied = 0.0973;
  const auto failing = [](const Values& differences, std::size_t failed, std::optional<double> margin = {}) {
    return with(sweep_with("a", differences, untied), [&](ReportData& report) {
      report.margin = margin;
      for (std::size_t i = 0; i < failed; ++i) test::fail(report.arms[1].runs[differences.size() - 1 - i]);
    });
  };
  const Values eight_clear{0.30, 0.33, 0.29, 0.31, 0.27, 0.34, 0.30, 0.30};
  CHECK(after(failing(eight_clear, 1)) ==
        " 1 of 8 seeds is excluded (runs that failed, cannot be used, or have no result). If failed runs count as the "
        "worst of all, p = 0.0078 (ranks, not corrected for other arms): the answer holds.");
  CHECK(after(failing(eight_clear, 2)) ==
        " 2 of 8" + if_worst + "0.0078 (ranks, not corrected for other arms): the answer holds.");
  CHECK(after(failing(negative(eight_clear), 2)) ==
        " 2 of 8" + if_worst +
            "0.062 (ranks, not corrected for other arms): the answer does not hold, and no difference is shown.");
  CHECK(after(failing({-0.3, -0.33, -0.29, -0.31, -0.27, -0.34, 0, 0, 0, 0, 0, 0}, 6)) ==
        " 6 of 12" + if_worst +
            "0.71 (ranks, not corrected for other arms): the answer does not hold, and no difference is shown.");
  CHECK(after(failing({0.3, -0.2, 0.3, -0.03, -0.1, 0.2, 0, 0}, 1)) ==
        " 1 of 8 seeds is excluded (runs that failed, cannot be used, or have no result). If failed runs count as the "
        "worst of all, p = 0.33 (ranks, not corrected for other arms): then no difference is shown.");
  CHECK(after(failing({0.3, -0.2, 0.3, -0.03, -0.1, 0.2, 0, 0, 0, 0, 0, 0}, 6)) ==
        " 6 of 12" + if_worst + "0.011 (ranks, not corrected for other arms): then the arm is worse.");
  CHECK(after(failing({0.01, -0.02, 0.015, -0.01, 0.02, -0.01, 0, 0}, 1, 0.05)) ==
        " 1 of 8 seeds is excluded (runs that failed, cannot be used, or have no result). If failed runs count as the "
        "worst of all, p = 1.00 (ranks, not corrected for other arms): then no difference is found, but whether they "
        "are the same is unknown.");
  CHECK(after(failing({0.01, -0.02, 0.015, -0.01, 0.02, -0.01, 0, 0, 0, 0, 0, 0}, 6, 0.05)) ==
        " 6 of 12" + if_worst +
            "0.021 (ranks, not corrected for other arms): the answer does not hold; then the arm is worse.");
  const auto reference_failing = [](const Values& differences, std::optional<double> margin = {}) {
    return with(sweep_with("a", differences, untied), [&](ReportData& report) {
      report.margin = margin;
      for (std::size_t i = 6; i < differences.size(); ++i) test::fail(report.arms[0].runs[i]);
    });
  };
  const Values twelve{0.30, 0.33, 0.29, 0.31, 0.27, 0.34, 0, 0, 0, 0, 0, 0};
  CHECK(after(reference_failing(twelve)) ==
        " 6 of 12" + if_worst +
            "0.75 (ranks, not corrected for other arms): the answer does not hold, and no difference is shown.");
  CHECK(after(reference_failing({0.3, -0.2, 0.3, -0.03, -0.1, 0.2, 0, 0, 0, 0, 0, 0})) ==
        " 6 of 12" + if_worst + "0.17 (ranks, not corrected for other arms): then no difference is shown.");
  CHECK(after(reference_failing({0.01, -0.02, 0.015, -0.01, 0.02, -0.01, 0, 0, 0, 0, 0, 0}, 0.05)) ==
        " 6 of 12" + if_worst +
            "0.021 (ranks, not corrected for other arms): the answer does not hold; then the arm is better.");
  Values thirty(30, 0), sixteen(16, 0);
  for (std::size_t i = 0; i < 6; ++i) thirty[i] = -0.3;
  for (std::size_t i = 0; i < 6; ++i) sixteen[i] = unclear[i];
  CHECK(after(failing(thirty, 24)) ==
        " 24 of 30" + if_worst + "1e-05 (ranks, not corrected for other arms): the answer is reversed.");
  CHECK(after(reference_failing(sixteen)) ==
        " 10 of 16" + if_worst + "0.0068 (ranks, not corrected for other arms): then the arm is better.");
  CHECK(
      after(unpaired(failing(eight_clear, 2))) ==
      " 2 of its 8 runs and 0 of the reference's 8 are excluded (they failed, cannot be used, or have no result). If "
      "failed runs count as the worst of all, p = 0.037 (ranks, not corrected for other arms): then the arm is worse.");
}

TEST_CASE("the sentences of arms at a limit", "[report][sentences]") {
  const Values little_more{0.3, 0.31, 0.32, 0.33, 0.3, 0.31}, zero(6, 0.0);
  const Values lost{2e12, 3e12, 4e12, 2e12, 4e12, 3e12};
  CHECK(limit_sentences(sweep_of(accuracy, {{"reference", guessing}, {"a", guessing}, {"b", learned}}, eight)) ==
        Sentences{"The reference and a are at chance: their val_accuracy is that of guessing, 0.1250 (1 / symbols)." +
                  try_another});
  CHECK(limit_sentences(sweep_of(accuracy, {{"reference", learned}, {"a", guessing}}, eight)) ==
        Sentences{"a is at chance: its val_accuracy is that of guessing, 0.1250 (1 / symbols). It has learned nothing "
                  "that shows."});
  CHECK(limit_sentences(sweep_of(accuracy, {{"model", guessing}}, eight)) ==
        Sentences{"The model is at chance: its val_accuracy is that of guessing, 0.1250 (1 / symbols). It has learned "
                  "nothing that shows."});
  CHECK(limit_sentences(sweep_of(loss, {{"reference", learned}, {"a", lost}}, eight)) ==
        Sentences{"a is worse than chance: guessing gives val_loss 2.0794 (ln 8). Either training diverged, or the "
                  "model fitted patterns that do not hold for other data."});
  CHECK(
      limit_sentences(sweep_of(loss, {{"reference", lost}, {"a", lost}}, eight)) ==
      Sentences{
          "The reference and a are worse than chance: guessing gives val_loss 2.0794 (ln 8). Either training diverged, "
          "or the model fitted patterns that do not hold for other data. This task can't tell them apart."});
  CHECK(limit_sentences(sweep_of(accuracy, {{"reference", all}, {"a", all}, {"b", learned}})) ==
        Sentences{"The reference and a are at the ceiling: val_accuracy is 1 in all seeds. This task is too easy to "
                  "distinguish them. Try a harder task, or compare how fast they learn (steps_to)."});
  const Metric bleu{"val_bleu", Direction::higher, "", "BLEU", 0, 100};
  CHECK(limit_sentences(sweep_of(bleu, {{"reference", zero}, {"a", zero}})) ==
        Sentences{"The reference and a are at the floor: val_bleu is 0 in all seeds." + try_another});
  CHECK(limit_sentences(sweep_of(bleu, {{"reference", learned}, {"a", zero}})) ==
        Sentences{"a is at the floor: val_bleu is 0 in all seeds. It has learned nothing that shows."});
  const auto of_a_table = [](ReportData report) {
    report.table = ReportTable{"r.csv", "seed", "", {}};
    return limit_sentences(report);
  };
  CHECK(of_a_table(sweep_of(accuracy, {{"reference", all}, {"a", all}})) ==
        Sentences{"The reference and a are at the ceiling: val_accuracy is 1 in all seeds. This task is too easy to "
                  "distinguish them: try a harder one."});
  CHECK(of_a_table(sweep_of(accuracy, {{"reference", zero}, {"a", zero}})) ==
        Sentences{
            "The reference and a are at the floor: val_accuracy is 0 in all seeds. This task can't tell them apart."});
  ReportData groups = sweep_of(accuracy, {{"reference", guessing}, {"a", guessing}}, eight);
  groups.within = {{"task.copy.length", "length"}};
  for (ReportArm& arm : groups.arms) arm.group = {"64"};
  CHECK(limit_sentences(groups) == Sentences{"At length = 64, the reference and a are at chance: their val_accuracy is "
                                             "that of guessing, 0.1250 (1 / symbols)." +
                                             try_another});
  ReportData seeing = sweep_of(loss, {{"reference", little_more}, {"causal = false", learned}});
  seeing.arms[1].leakage = "attention.causal = false";
  CHECK(limit_sentences(seeing) ==
        Sentences{"causal = false sees what it is to predict (attention.causal = false): its val_loss says nothing of "
                  "what was learned, and there is no answer against an arm that doesn't."});
  seeing.arms[0].leakage = "attention.causal = false";
  CHECK(limit_sentences(seeing) ==
        Sentences{"The reference and causal = false see what they are to predict (attention.causal = false): their "
                  "val_loss says nothing of what was learned, and there is no answer against an arm that doesn't."});
}

TEST_CASE("the sentences of interactions", "[report][sentences]") {
  const Values more{0.20, 0.22, 0.18, 0.21, 0.19, 0.26};
  CHECK(interaction(crossed(more)) ==
        "Interaction: the effect of score = additive is +0.100 nats by itself and +0.310 nats with heads = 8; this "
        "change, +0.210 nats [0.178, 0.260], is found, p = 0.031, n = 6.");
  CHECK(interaction(crossed(little)) ==
        "Interaction: the effect of score = additive is +0.100 nats by itself and +0.101 nats with heads = 8; no "
        "change is shown: +0.001 nats [-0.028, 0.030], p = 1.00, n = 6.");
  CHECK(interaction(with_margin(crossed(little), 0.05)) ==
        "Interaction: the effect of score = additive is +0.100 nats by itself and +0.101 nats with heads = 8; this "
        "change, +0.001 nats [-0.020, 0.020], is within 0.05, p = 0.031 (equivalence), n = 6.");
  CHECK(interaction(crossed({0.20, 0.22, 0.18, 0.21})) ==
        "Interaction: the effect of score = additive is +0.100 nats by itself and +0.302 nats with heads = 8; this "
        "change, +0.202 nats, is underpowered: with n = 4, p cannot be below 0.125; at least 6 seeds are needed.");
  CHECK(interaction(with(crossed(none), [](ReportData& report) { report.resolution = 0x1p-23; })) ==
        "Interaction: the effect of score = additive is +0.1000 nats by itself and +0.1000 nats with heads = 8: the "
        "same in all 6 seeds.");
  // 0.41 - 0.1, and the differences' ends 0.28 and 0.36.
  Values base, small, large;
  for (std::size_t i = 0; i < 6; ++i) {
    base.push_back(1.0 + 0.1 * static_cast<double>(i));
    small.push_back(base.back() + 0.1);
    large.push_back(base.back() + std::vector{0.4, 0.42, 0.38, 0.41, 0.39, 0.46}[i]);
  }
  ReportData groups = sweep_of(loss,
                               {{"16: reference", base}, {"16: a", small}, {"64: reference", base}, {"64: a", large}});
  groups.within = {{"task.copy.length", "length"}};
  for (std::size_t i = 0; i < 4; ++i) {
    groups.arms[i].name = i % 2 == 0 ? "reference" : "score = additive";
    groups.arms[i].group = {i < 2 ? "16" : "64"};
    groups.arms[i].reference = i < 2 ? 0 : 2;
  }
  CHECK(interaction(with(groups, [](ReportData&) {})) ==
        "Interaction: the effect of score = additive is +0.100 nats with length = 16 and +0.410 nats with length = 64; "
        "this change, +0.310 nats [0.278, 0.360], is found, p = 0.031, n = 6.");
  ReportData limited = with(crossed(more), [](ReportData& report) {
    report.metric = accuracy;
    for (const std::size_t arm : {0, 2})
      for (ReportRun& run : report.arms[arm].runs) run.value = 1;
    test::fail(report.arms[1].runs[2]);
  });
  CHECK(
      interaction(limited) ==
      "Interaction: the effect of score = additive is +0.360 in val_accuracy by itself and +0.626 in val_accuracy with "
      "heads = 8; this change, +0.266 in val_accuracy, is underpowered: with n = 5, p cannot be below 0.0625; at least "
      "6 seeds are needed. 2 of these four arms are at the ceiling (heads = 8, the reference), so part of this may "
      "come from that limit. 1 of 6 seeds is excluded (runs that failed, cannot be used, or have no result).");
  CHECK(interaction(with(crossed(more),
                         [](ReportData& report) {
                           report.metric = steps;
                           report.arms[1].runs[2].value = 50;
                         })) ==
        "Interaction: the effect of score = additive is +8 steps by itself and 0 steps with heads = 8; no change is "
        "shown: -8 steps [-49, 14], p = 1.00, n = 6. Runs that did not reach the target were counted as 50 steps.");
}

TEST_CASE("the short sentences of arms with the same answer", "[report][sentences]") {
  const auto two_arms = [](const Values& of_each, std::optional<double> margin = {}) {
    ReportData report = sweep_with("without scale", of_each);
    report.arms.push_back(report.arms[1]);
    report.arms.back().label = "b";
    report.margin = margin;
    compute_statistics(report);
    return short_answer_sentences(report);
  };
  CHECK(two_arms(none) ==
        Sentences{"The model without scale and b are equal to the reference: the same val_loss in each seed."});
  CHECK(two_arms(unclear) == Sentences{"The model without scale and b are undecided: no difference from the reference "
                                       "is shown (largest difference +0.08 nats, smallest p = 0.50)."});
  CHECK(two_arms(unclear, 0.05) ==
        Sentences{"The model without scale and b are undecided: neither different from the reference nor the same "
                  "within 0.05 nats (largest difference +0.08 nats, smallest p = 0.50)."});
  CHECK(two_arms(little, 0.05) == Sentences{"The model without scale and b are the same as the reference within 0.05 "
                                            "nats (largest difference +0.001 nats)."});
  CHECK(two_arms({0.010, 0.012, 0.011, 0.010, 0.013, 0.011}, 0.05) ==
        Sentences{"The model without scale and b are the same as the reference within 0.05 nats (largest difference "
                  "+0.0112 nats). 2 of them differ, by less than the margin."});
  CHECK(two_arms(clear) ==
        Sentences{"The model without scale is worse: val_loss is 0.307 nats higher [0.269, 0.344], p = 0.031, n = 6.",
                  "b is worse: val_loss is 0.307 nats higher [0.269, 0.344], p = 0.031, n = 6."});
  ReportData some_found = sweep_with("a", little);
  some_found.arms.push_back(sweep_with("b", {0.010, 0.012, 0.011, 0.010, 0.013, 0.011}).arms[1]);
  CHECK(short_answer_sentences(with_margin(some_found, 0.05)) ==
        Sentences{"a and b are the same as the reference within 0.05 nats (largest difference +0.0112 nats). 1 of them "
                  "differs, by less than the margin."});
}

TEST_CASE("the warnings of where numbers come from", "[report][sentences]") {
  ReportData report = sweep_with("a", clear);
  report.frozen = Frozen{"2026-11-22T10:15:00Z", 7, 12};
  CHECK(provenance_warnings(report) ==
        Sentences{
            "Planned after results: 7 of its 12 runs had finished when this plan was frozen (2026-11-22 10:15 UTC)." +
            planned_late});
  report.earlier = {{"scores-ba9876543210", "2026-11-20T08:00:00Z", 7, {"seeds 6 -> 10", "margin none -> 0.01"}}};
  CHECK(provenance_warnings(report) ==
        Sentences{"Planned after results: 7 of its 12 runs had finished when this plan was frozen (2026-11-22 10:15 "
                  "UTC), 7 of them are runs of scores-ba9876543210 (2026-11-20 08:00 UTC; changed since: seeds 6 -> "
                  "10, margin none -> 0.01)." +
                  planned_late});
  report.frozen.reset();
  report.arms[1].runs[0].exclusion = RunExclusion::gone;
  report.arms[1].runs[1].exclusion = RunExclusion::unusable;
  CHECK(provenance_warnings(report) ==
        Sentences{"Gone: 1 run was finished, and its folder is missing now; it is in no number. p holds if runs are "
                  "not removed because of their results.",
                  "Left out: 1 run is in no number, because its folder is damaged, edited, or of another version."});
  report.arms[1].runs[2].exclusion = RunExclusion::gone;
  report.arms[1].runs[3].exclusion = RunExclusion::unusable;
  CHECK(provenance_warnings(report) ==
        Sentences{
            "Gone: 2 runs were finished, and their folders are missing now; they are in no number. p holds if runs are "
            "not removed because of their results.",
            "Left out: 2 runs are in no number, because their folders are damaged, edited, or of another version."});
  report.arms.erase(report.arms.begin());
  report.arms[0].runs.resize(1);
  CHECK(provenance_warnings(report) ==
        Sentences{"Gone: 1 run was finished, and its folder is missing now; it is in no number."});
  ReportData table = of_table("seed");
  table.table->warnings = {"Two scales: one."};
  table.arms[1].runs[0].exclusion = RunExclusion::no_row;
  table.arms[1].runs[1].exclusion = RunExclusion::unusable;
  CHECK(provenance_warnings(table) ==
        Sentences{
            made_elsewhere,
            "Missing: r.csv has no result for 1 of 12 runs. A seed that an arm or its reference lacks is left out of "
            "their comparison. p holds if the run is missing for a reason that has nothing to do with its result.",
            "Two scales: one.", "Left out: 1 run is in no number, because the table says so."});
  table.arms[1].runs[2].exclusion = RunExclusion::no_row;
  table.arms[1].runs[3].exclusion = RunExclusion::unusable;
  CHECK(provenance_warnings(table) ==
        Sentences{
            made_elsewhere,
            "Missing: r.csv has no result for 2 of 12 runs. A seed that an arm or its reference lacks is left out of "
            "their comparison. p holds if the runs are missing for a reason that has nothing to do with their results.",
            "Two scales: one.", "Left out: 2 runs are in no number, because the table says so."});
}

TEST_CASE("the notes on the metric, on differences and on p", "[report][sentences]") {
  const ReportData six = sweep_with("a", clear);
  CHECK(text(six, "val_loss") == "mean ± standard deviation over n runs, lower is better; cross-entropy (nats).");
  CHECK(claim(six, "val_loss") == "cross-entropy (nats); mean ± sd over n runs, lower is better.");
  CHECK(text(sweep_with("a", {0.3}), "val_loss") == "lower is better; cross-entropy (nats).");
  CHECK(text(with(six, [](ReportData& r) { r.metric.direction = Direction::none; }), "val_loss") ==
        "mean ± standard deviation over n runs, neither more nor less is better; cross-entropy (nats).");
  CHECK(text(with(six, [](ReportData& r) { r.metric.label = "loss"; }), "loss (val_loss)") ==
        "mean ± standard deviation over n runs, lower is better; cross-entropy (nats).");
  CHECK(further_note(accuracy) ==
        "val_accuracy, compared as well, with the same correction: higher is better; fraction that is right.");

  CHECK(text(six, "difference") ==
        "arm minus the reference, paired by seed. [95 %]: simultaneous intervals of all arms, from the same sign flips "
        "as p. An interval excludes 0 exactly when p is at most 0.05." +
            end_at_zero + " With fewer than 6 seeds there is none.");
  CHECK(text(with_margin(six, 0.5), "difference") ==
        "arm minus the reference, paired by seed. [95 %]: simultaneous intervals of all arms, from the same sign flips "
        "as p. An interval excludes 0 exactly when p is at most 0.05, unless the arm is the same." +
            end_at_zero +
            " With fewer than 6 seeds there is none, except for \"same\". For \"same\", the interval is that of the "
            "equivalence tests, which also contains 0: it lies within the margin of 0.5, and an end at the margin "
            "itself has a round bracket.");
  CHECK(text(sweep_with("a", {0.3}), "difference") == "from the reference; one seed says nothing about the spread.");
  CHECK(text(sweep_with("a", {0.3, 0.31, 0.29}), "difference") ==
        "arm minus the reference, paired by seed; too few seeds for an interval.");
  CHECK(text(sweep_with("a", Values(6, 0.25)), "difference") ==
        "arm minus the reference, paired by seed; the differences are all equal, so their spread is unknown.");
  CHECK(text(sweep_of(loss, {{"reference", {1, 2, 3, 4, 5, 6}}, {"a", {2, 3, 4, 5, 6, 7}}, {"b", {1, 3, 2, 5, 4, 6}}}),
             "difference")
            .ends_with(" An arm whose differences are all equal has none: their spread is unknown."));
  CHECK(text(unpaired(six), "difference") ==
        "mean of the arm's runs minus mean of the runs of the reference. [95 %]: simultaneous intervals of all arms, "
        "from the same tests as p (Bonferroni). An interval excludes 0 exactly when p is at most 0.05." +
            end_at_zero);
  CHECK(text(unpaired(sweep_with("a", {0.3, 0.31})), "difference") ==
        "mean of the arm's runs minus mean of the runs of the reference; too few seeds for an interval.");
  CHECK(text(looked_at(10, at_six), "difference") ==
        "arm minus the reference, paired by seed. [96.5 %]: simultaneous intervals of all arms, from the same sign "
        "flips as p. An interval excludes 0 exactly when p is at most its look's level." +
            end_at_zero + " With fewer than 6 seeds there is none.");
  CHECK(text(of_table("fold"), "difference") ==
        "arm minus the reference, paired by fold. [95 %]: simultaneous intervals of all arms, from the same sign flips "
        "as p. An interval excludes 0 exactly when p is at most 0.05." +
            end_at_zero + " With fewer than 6 seeds there is none.");
  CHECK(
      text(contradicting(), "difference") ==
      "arm minus the reference, paired by seed. [95 %]: simultaneous intervals of all arms, from the same sign flips "
      "as p. An interval excludes 0 exactly when p is at most 0.05, unless ranks and means have opposite directions." +
          end_at_zero + " With fewer than 6 seeds there is none.");
  const auto of_groups = [](ReportData& report) {
    report.within = {{"task.copy.length", "length"}};
    for (ReportArm& arm : report.arms) arm.group = {"64"};
  };
  CHECK(text(with(six, of_groups), "difference") ==
        "arm minus the reference of its group, paired by seed. [95 %]: simultaneous intervals of all arms, from the "
        "same sign flips as p. An interval excludes 0 exactly when p is at most 0.05." +
            end_at_zero + " With fewer than 6 seeds there is none.");
  CHECK(text(with(sweep_with("a", {0.3}), of_groups), "difference") ==
        "from the reference of its group; one seed says nothing about the spread.");
  ReportData two_looks = looked_at(10, at_six);
  two_looks.arms.push_back(looked_at(10, at_ten).arms[1]);
  CHECK(text(with(two_looks, [](ReportData&) {}), "difference") ==
        "arm minus the reference, paired by seed. [each look's %]: simultaneous intervals of all arms, from the same "
        "sign flips as p. An interval excludes 0 exactly when p is at most its look's level." +
            end_at_zero + " With fewer than 6 seeds there is none.");

  CHECK(text(six, "p") == "the share of all 2^6 = 64 sign flips of the differences that give a result at least as "
                          "clear as the observed one." +
                              all_together);
  CHECK(claim(six, "p") == "the share of 2^6 = 64 sign flips with a result at least as clear, corrected for all arms.");
  CHECK(text(contradicting(), "p") == "the share of all 2^12 = 4,096 sign flips of the differences that give a result "
                                      "at least as clear as the observed one." +
                                          all_together + " If runs did not reach the target: by ranks.");
  ReportData also = six;
  also.also = {accuracy};
  also = with(also, [](ReportData&) {});
  CHECK(text(also, "p") == "the share of all 2^6 = 64 sign flips of the differences that give a result at least as "
                           "clear as the observed one. A flip changes a seed's sign in all arms and metrics together. "
                           "By the step-down max-|t| method, corrected for the number of arms and metrics.");
  CHECK(claim(also, "p") ==
        "the share of 2^6 = 64 sign flips with a result at least as clear, corrected for all arms and metrics.");
  CHECK(text(sweep_with("a", Values(24, 0.3)), "p") ==
        "the share of sign flips of the differences that give a result at least as clear as the observed one; "
        "approximate above 20 seeds, from 100,000 random flips." +
            all_together);
  CHECK(text(with(six,
                  [](ReportData& r) {
                    r.arms.push_back(r.arms[1]);
                    test::fail(r.arms[1].runs[0]);
                  }),
             "p") ==
        "the share of all sign flips of the differences that give a result at least as clear as the observed one." +
            all_together);
  const ReportData twenty = sweep_with("a", [] {
    Values out;
    for (int i = 0; i < 24; ++i) out.push_back(0.3 + 0.001 * i);
    return out;
  }());
  CHECK(text(twenty, "p") == "the share of sign flips of the differences that give a result at least as clear as the "
                             "observed one; approximate above 20 seeds, from 100,000 random flips." +
                                 all_together);
  CHECK(claim(twenty, "p") == "the share of sign flips with a result at least as clear, corrected for all arms.");
  CHECK(text(unpaired(six), "p") ==
        "the larger of two: of Welch's t test, and of permutations of which runs are the arm's and which the "
        "reference's (all of them). Corrected for the number of arms (Holm).");
  CHECK(claim(unpaired(six), "p") ==
        "permutations of the runs with a result at least as clear, corrected for all arms.");
  CHECK(text(unpaired(also), "p") ==
        "the larger of two: of Welch's t test, and of permutations of which runs are the arm's and which the "
        "reference's (all of them). Corrected for the number of arms and metrics (Holm).");
  CHECK(text(unpaired(twenty), "p") ==
        "the larger of two: of Welch's t test, and of permutations of which runs are the arm's and which the "
        "reference's (100,000 random ones). Corrected for the number of arms (Holm).");
  CHECK(text(with(unpaired(six),
                  [](ReportData& r) {
                    r.arms[0].runs.push_back(r.arms[0].runs.back());
                    r.arms[0].runs.back().seed = 77;
                  }),
             "p") == "the larger of two: of Welch's t test, and of permutations of which runs are the arm's and which "
                     "the reference's (all of them). Corrected for the number of arms (Holm).");
}

TEST_CASE("the notes on pairs, answers, spreads and seeds", "[report][sentences]") {
  const ReportData six = sweep_with("a", clear);
  CHECK(text(six, "pairs") == "the correlation of the arm with the reference over the seeds is +0.99.");
  CHECK(claim(six, "pairs") == "over the seeds, the arm correlates with the reference by +0.99.");
  const Values up{1, 2, 3, 4, 5, 6}, down{4.3, 3, 5, 2.2, 4, 1}, flat{2, 1, 4, 2, 1, 3};
  const ReportData two = sweep_of(loss, {{"reference", up}, {"a", down}, {"b", flat}});
  CHECK(text(two, "pairs") ==
        "the correlation of an arm with the reference over the seeds is -0.23 (median of the 2 arms; smallest -0.59, "
        "largest +0.14). At so low a correlation, pairing hardly helps. In a sweep with new seeds, set [report] test = "
        "\"unpaired\" before the runs: it may find more.");
  CHECK(claim(two, "pairs") ==
        "over the seeds, an arm correlates with the reference by -0.23, so pairing hardly helps.");
  CHECK(text(with(six,
                  [](ReportData& r) {
                    r.within = {{"task.copy.length", "length"}};
                  }),
             "pairs") == "the correlation of the arm with its reference over the seeds is +0.99.");
  CHECK(text(with(two,
                  [](ReportData& r) {
                    r.table = ReportTable{"r.csv", "seed", "", {}};
                  }),
             "pairs") == "the correlation of an arm with the reference over the seeds is -0.23 (median of the 2 arms; "
                         "smallest -0.59, largest +0.14). At so low a correlation, pairing hardly helps. For new runs, "
                         "choose --test unpaired before you see them: it may find more.");

  CHECK(text(six, "answer") == "better or worse if p is at most 0.05" + or_undecided);
  CHECK(claim(six, "answer") == "better or worse if p is at most 0.05; undecided shows neither.");
  CHECK(text(with_margin(six, 0.05), "answer") ==
        "same if two one-sided tests by sign flips put the difference within the margin of 0.05 nats (level 0.05, "
        "corrected for the number of arms); otherwise better or worse if p is at most 0.05" +
            or_undecided);
  CHECK(claim(with_margin(six, 0.05), "answer") ==
        "better or worse if p is at most 0.05; same if within 0.05 nats; undecided shows neither.");
  CHECK(text(unpaired(with_margin(six, 0.05)), "answer") ==
        "same if two one-sided tests by permutations put the difference within the margin of 0.05 nats (level 0.05, "
        "corrected for the number of arms); otherwise better or worse if p is at most 0.05" +
            or_undecided);
  CHECK(text(with_margin(sweep_with("a", none), 0.05), "answer") ==
        "equal if the metric is the same number in all seeds; otherwise same if two one-sided tests by sign flips put "
        "the difference within the margin of 0.05 nats (level 0.05, corrected for the number of arms); otherwise "
        "better or worse if p is at most 0.05" +
            or_undecided);
  CHECK(text(with(six, [](ReportData& r) { r.metric.direction = Direction::none; }), "answer") ==
        "differs if p is at most 0.05" + or_undecided);
  CHECK(claim(with(six, [](ReportData& r) { r.metric.direction = Direction::none; }), "answer") ==
        "differs if p is at most 0.05; undecided shows neither.");
  CHECK(text(looked_at(10, at_six), "answer") == "better or worse if p is at most its look's level" + or_undecided);
  CHECK(claim(looked_at(10, at_six), "answer") ==
        "better or worse if p is at most its look's level; undecided shows neither.");

  const auto spread = [](int arms) {
    ReportData report = sweep_with("arm 1", {2, 4, 9, 10, 12, 15});
    for (int arm = 2; arm <= arms; ++arm) {
      report.arms.push_back(report.arms[1]);
      report.arms.back().label = fmt::format("arm {}", arm);
    }
    compute_statistics(report);
    return report;
  };
  CHECK(text(spread(1), "spreads") ==
        "the standard deviation of arm 1 differs from the reference's (p <= 0.1, not corrected for the number of "
        "arms), so p is too small if the noise is also skewed. In our simulations with a spread of 4 and skewed "
        "noise, up to 63 of 100 sweeps found a difference that does not exist (5 are promised), and up to 76 called "
        "arms the same wrongly; other noise can be worse. Look at the individual runs.");
  CHECK(text(with_margin(sweep_with("a", little), 0.05), "rare failures") ==
        "If 1 run in 10 failed to learn, 6 seeds would show none in 53 of 100 sweeps.");
  const ReportData high = with_margin(sweep_of(accuracy, {{"reference", {0.9, 0.91, 0.89, 0.9, 0.92, 0.88}},
                                                          {"a", {0.91, 0.9, 0.9, 0.89, 0.91, 0.89}}}),
                                      0.05);
  CHECK(text(high, "rare failures") == "If 1 run in 10 fell by 0.9, 6 seeds would show none in 53 of 100 sweeps.");
  CHECK(text(six, "rare failures").empty());
  CHECK(text(six, "scope") ==
        "p and intervals cover other seeds, on the same validation examples; they say nothing about other examples.");
  CHECK(text(sweep_with("a", {0.30, 0.33, 0.29, 0.31, 0.27}), "scope") ==
        "p covers other seeds, on the same validation examples; it says nothing about other examples.");
  CHECK(text(with(six,
                  [](ReportData& report) {
                    for (ReportArm& arm : report.arms) arm.evaluated_examples = 2000;
                  }),
             "scope") == "p and intervals cover other seeds, on one fixed validation set of 2,000 examples; they say "
                         "nothing about other examples.");
  CHECK(text(of_table("fold"), "scope") ==
        "p and intervals cover other values of fold, on the same examples; they say nothing about other examples.");
  CHECK(text(of_table("seed"), "scope") ==
        "p and intervals cover other seeds, on the same examples; they say nothing about other examples.");
  CHECK(text(of_table("seed and fold"), "scope") ==
        "p and intervals cover other combinations of seed and fold, on the same examples; they say nothing about other "
        "examples.");
  CHECK(claim(spread(1), "spreads") ==
        "the standard deviation of arm 1 differs from the reference's, so p may be too small.");
  CHECK(claim(spread(2), "spreads") ==
        "the standard deviations of arm 1, arm 2 differ from the reference's, so p may be too small.");
  CHECK(claim(spread(6), "spreads") == "the standard deviations of arm 1, arm 2, arm 3, arm 4 and 2 more arms differ "
                                       "from the reference's, so p may be too small.");

  CHECK(text(sweep_with("a", {0.30, 0.33, 0.29, 0.31, 0.27}), "underpowered") ==
        "with n = 5, p cannot be below 0.0625; at least 6 seeds are needed.");
  ReportData half = sweep_of(accuracy, {{"reference", learned}, {"a", {0.9, 0.1, 0.9, 0.1, 0.9, 0.9}}});
  CHECK(text(half, "learned") == of_two_groups + "[report] learned sets the threshold beforehand.");
  half.table = ReportTable{"r.csv", "seed", "", {}};
  CHECK(text(half, "learned") == of_two_groups + "--learned sets the threshold.");
  CHECK(text(of_table("fold"), "seeds") == "in these texts, a seed is a fold" + if_independent);
  CHECK(text(of_table("seed and fold"), "seeds") ==
        "in these texts, a seed is a combination of seed and fold" + if_independent);
  ReportData unfinished = six;
  unfinished.arms[1].runs[0].state = RunState::running;
  CHECK(text(unfinished, "unfinished") == "the sweep isn't" + may_change);
  unfinished.table = ReportTable{"r.csv", "seed", "", {}};
  CHECK(text(unfinished, "unfinished") == "not all runs are" + may_change);
}

TEST_CASE("the notes on looks", "[report][sentences]") {
  CHECK(text(looked_at(1, at_six), "looks") ==
        as_planned + "1 of 10 seeds has finished; the first look is at 6 seeds, and there are no answers before it.");
  CHECK(text(looked_at(5, at_six), "looks") ==
        as_planned + "5 of 10 seeds have finished; the first look is at 6 seeds, and there are no answers before it.");
  CHECK(text(looked_at(9, at_six), "looks") ==
        as_planned + "9 of 10 seeds have finished; the answers are of the planned look at 6, and later seeds are in no "
                     "number of the table. What is found at a look stays.");
  CHECK(text(looked_at(10, at_ten), "looks") ==
        as_planned + "the answers are of the last look, or of the one that found them.");
  CHECK(text(looked_at(10, at_six), "looks") ==
        as_planned +
            "the answers are of the last look, or of the one that found them. \"(n = ...)\" after p: an earlier look "
            "found the answer, so difference, interval and p are of these seeds; the mean is of all in column n.");
}

TEST_CASE("the notes on what a sweep is of", "[report][sentences]") {
  ReportData report = sweep_with("a", clear);
  report.reference_values = "position = none, score = scaled_dot, norm = pre";
  CHECK(text(report, "reference") == "position = none, score = scaled_dot, norm = pre.");
  CHECK(text(sweep_of({"val_sequence_accuracy", Direction::higher, "", "", 0, 1},
                      {{"reference", learned}, {"a", learned}}, eight),
             "chance") ==
        "guessing gives val_sequence_accuracy 6.0e-08 ((1 / symbols)^8). An arm" + at_chance_if + "1" + in_mean);
  CHECK(text(sweep_of(loss, {{"model", learned}}, eight), "chance") ==
        "guessing gives val_loss 2.0794 (ln 8). The model" + at_chance_if + "0" + in_mean);
  CHECK(text(sweep_of({"val_perplexity", Direction::lower, "", "", 1}, {{"reference", learned}}, eight), "chance") ==
        "guessing gives val_perplexity 8.0000 (e to the power of ln 8). The model" + at_chance_if + "1" + in_mean);
  ReportData at_once = sweep_of(steps, {{"reference", Values(6, 10)}, {"a", Values(6, 10)}});
  at_once.evaluated = loss;
  for (ReportArm& arm : at_once.arms)
    for (ReportRun& run : arm.runs) run.curve = {{10, 1}};
  CHECK(text(at_once, "evaluations") ==
        "all runs were there at their first evaluation: evaluate more often (train.evaluate_every), or ask for more.");

  ReportData starts = sweep_with("a", clear);
  starts.arms[1].start = "0123456789abcdef";
  CHECK(text(starts, "starts") ==
        "the runs of a start from the weights of run 0123456789abcdef. All seeds share this start, so spreads, "
        "intervals and p do not cover how results vary with the start: they hold for this start only. The training of "
        "the start is in no number of steps, FLOPs or time.");
  CHECK(claim(starts, "starts") == "the runs of a start from the weights of run 0123456789abcdef. All seeds share this "
                                   "start, so spreads, intervals and p hold for it only.");
  starts.arms[0].start = "0123456789abcdef";
  starts.arms[1].runs[0].start_changes = {"attention.causal"};
  starts.seeds.resize(1);
  CHECK(
      text(starts, "starts") ==
      "all runs start from the weights of run 0123456789abcdef. In the runs of a, the same weights compute something "
      "else than in their start: attention.causal. The training of the start is in no number of steps, FLOPs or time.");
  CHECK(claim(starts, "starts") == "all runs start from the weights of run 0123456789abcdef. In the runs of a, the "
                                   "same weights compute something else than in their start: attention.causal.");

  CHECK(text(crossed(clear), "interactions") ==
        "by sign flips of each seed's change; p is corrected for arms and interactions together.");
  CHECK(text(report, "time") == "training time of one run, the mean over the seeds of the arm.");
  CHECK(text(of_table("seed"), "columns") == "accuracy is \"acc\", and the arm is \"model\".");
  report.hash = "0123456789ab";
  CHECK(text(report, "plan") == "0123456789ab, of a version that did not keep when it was frozen.");
  report.frozen = Frozen{"2026-11-22T10:15:00Z", 0, 12};
  CHECK(text(report, "plan") == "0123456789ab, frozen 2026-11-22 10:15 UTC, before any of its runs had finished.");
  report.frozen->finished = 7;
  CHECK(text(report, "plan") ==
        "0123456789ab, frozen 2026-11-22 10:15 UTC, after some of its runs had finished, as said at the top.");

  report.arms[1].label = report.arms[1].name = "penalty";
  report.arms[1].changes = {{"attention.score_mod", "s - abs(i - j) / 4"}, {"attention.normalizer", "sigmoid"}};
  CHECK(text(report, "penalty") == "attention.score_mod = s - abs(i - j) / 4; attention.normalizer = sigmoid");
  report.arms[1].changes.clear();
  report.match = "parameters";
  report.arms[1].matched = BudgetMatch{132, 63040, 63040};
  CHECK(text(report, "penalty") ==
        "feed-forward of 132 features, 63,040 parameters against the reference's 63,040 (0.00 %).");
  report.match = "flops";
  report.arms[1].matched = BudgetMatch{132, 1.3e9, 1.25e9};
  CHECK(text(report, "penalty") == "feed-forward of 132 features, 1.30 GFLOPs against the reference's 1.25 GFLOPs "
                                   "(+4.00 %). Not even: no width of the feed-forward comes nearer.");
  report.match = "state";
  report.arms[1].matched = BudgetMatch{180, 16200, 16384};
  CHECK(text(report, "penalty") == "model.width of 180, 16,200 numbers of state against the reference's 16,384 "
                                   "(-1.12 %). Not even: no width comes nearer.");

  CHECK(text(tuned({1.0, 1.1, 2.0}), "tuned") ==
        "p and intervals hold for the settings that were chosen. Two arms that are the same function can differ "
        "because other settings were chosen (in 4 to 21 of 100 simulated sweeps); the sentences say what p is if this "
        "is counted as noise.");
  CHECK(text(tuned({1.0, 1.1, 2.0}), "heads = 8") ==
        "tried train.learning_rate = 0.1 (1), 0.2 (1.1), 0.3 (2); chose 0.1, at the edge of the grid: a value outside "
        "of the grid may be better.");
  ReportData tuning = tuned({1.0, 1.1, 2.0});
  tuning.tuning->arms[1].chosen = 1;
  CHECK(text(tuning, "heads = 8") == "tried train.learning_rate = 0.1 (1), 0.2 (1.1), 0.3 (2); chose 0.2.");
  tuning.tuning->arms[1].chosen.reset();
  tuning.tuning->arms[1].trials[1].value.reset();
  tuning.tuning->arms[1].trials[2].value.reset();
  tuning.tuning->arms[1].trials[2].problem = "failed: the loss is not finite";
  CHECK(text(tuning, "heads = 8") == "tried train.learning_rate = 0.1 (1), 0.2 (not done), 0.3 (failed: the loss is "
                                     "not finite); 2 of 3 trials are done.");
}

TEST_CASE("the captions of figures", "[report][sentences]") {
  const auto captions = [](ReportData report) {
    for (ReportArm& arm : report.arms)
      for (ReportRun& run : arm.runs) run.curve = {{100, *run.value + 1}, {200, *run.value}};
    Sentences out;
    for (const document::Figure& figure : report_figures(report)) out.push_back(figure.caption);
    return out;
  };
  const ReportData six = sweep_with("a", clear);
  CHECK(captions(six) == Sentences{"Differences from the reference, with simultaneous 95 % intervals by sign flips. "
                                   "Triangles are better, squares worse, diamonds equal; round where that is open.",
                                   band_of_seeds});
  CHECK(
      captions(unpaired(with_margin(six, 0.05))) ==
      Sentences{
          "Differences from the reference, with simultaneous 95 % intervals by permutations; the band is the margin of "
          "0.05. Triangles are better, squares worse, diamonds the same within the margin; round where that is open.",
          band_of_seeds});
  CHECK(captions(sweep_with("a", {0.3, 0.31, 0.29})) ==
        Sentences{"Differences from the reference. Triangles are better, squares worse, diamonds equal; round where "
                  "that is open.",
                  band_of_seeds});
  ReportData groups = with(six, [](ReportData& report) {
    report.metric.direction = Direction::none;
    report.within = {{"task.copy.length", "length"}};
    for (ReportArm& arm : report.arms) arm.group = {"64"};
  });
  CHECK(captions(groups) == Sentences{"Differences from the reference of each group, with simultaneous 95 % intervals "
                                      "by sign flips. Triangles differ, diamonds equal; round where that is open.",
                                      band_of_seeds});
  const Values near{1.4, 1.5, 1.3}, nearer{1.3, 1.2, 1.2};
  CHECK(captions(sweep_of(loss, {{"reference", {1.0, 1.1, 1.2}},
                                 {"near", near},
                                 {"nearer", nearer},
                                 {"rate = 1000", {2e20, 2e20, 2e20}}})) ==
        Sentences{"Differences from the reference. Triangles are better, squares worse, diamonds equal; round where "
                  "that is open. Arrows point to arms outside the axis.",
                  band_of_seeds + " Outside the axis: rate = 1000 (at last 2e+20)."});
}
