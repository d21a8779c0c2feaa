// Tests of the scores of examples: a run's examples.json, the metric of each example, intervals over other examples.
#include "experiments/report/example_scores.hpp"

#include "experiments/report/other_examples.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/made_up_sweep.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

using namespace heed;
using Catch::Contains;

namespace {

/// Three examples of 1, 2 and 5 targets.
const std::vector<ExampleScore> three{{0.5, 1, 1, 1, true}, {3.0, 2, 2, 0, false}, {2.5, 5, 4, 3, false}};

/// A sweep whose runs have 40 examples: an arm differs by 0.1 and by a part of each example, which all seeds share.
ReportData with_known_examples(double of_examples) {
  ReportData report = test::sweep_with("a", {0.11, 0.09, 0.12, 0.08, 0.1, 0.1});
  report.examples = true;
  for (std::size_t a = 0; a < 2; ++a)
    for (ReportRun& run : report.arms[a].runs)
      for (int e = 0; e < 40; ++e)
        run.examples.push_back(*run.value + (a == 1 && e % 2 == 0 ? of_examples : a == 1 ? -of_examples : 0.0));
  compute_statistics(report);
  return report;
}

std::string sentence_of(const ReportData& report) {
  return answer_sentence(report, report.arms[1], TableDigits(report));
}

} // namespace

TEST_CASE("the metric of each example has the metric as its mean", "[report]") {
  const auto mean_of = [](const std::string& metric) { return statistics::mean(values_of_examples(three, metric)); };
  CHECK(mean_of("val_loss") == Approx(6.0 / 8));
  CHECK(mean_of("val_bits_per_character") == Approx(6.0 / 8 / std::numbers::ln2));
  CHECK(mean_of("val_accuracy") == Approx(4.0 / 7));
  CHECK(mean_of("val_sequence_accuracy") == Approx(1.0 / 3));
  // Of a mean over tokens, an example counts by its part of them: M + (w / mean(w)) (y - M).
  const double m = 6.0 / 8, w = 8.0 / 3;
  const std::vector<double> losses = values_of_examples(three, "val_loss");
  REQUIRE(losses.size() == 3);
  CHECK(losses[0] == Approx(m + 1 / w * (0.5 - m)));
  CHECK(losses[1] == Approx(m + 2 / w * (1.5 - m)));
  CHECK(losses[2] == Approx(m + 5 / w * (0.5 - m)));
  CHECK(values_of_examples(three, "val_sequence_accuracy") == std::vector<double>{1, 0, 0});
  CHECK(values_of_examples(three, "val_perplexity").empty());
  CHECK(values_of_examples({}, "val_loss").empty());
}

TEST_CASE("scores of examples are read as they were written", "[report]") {
  const Scratch scratch;
  const RunFolder run{scratch.path};
  CHECK(read_example_scores(run)->examples.empty());
  write_example_scores(run, {500, three});
  const auto read = read_example_scores(run);
  REQUIRE(read);
  CHECK(read->step == 500);
  REQUIRE(read->examples.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(read->examples[i].loss == three[i].loss);
    CHECK(read->examples[i].loss_targets == three[i].loss_targets);
    CHECK(read->examples[i].targets == three[i].targets);
    CHECK(read->examples[i].right == three[i].right);
    CHECK(read->examples[i].whole_right == three[i].whole_right);
  }
}

TEST_CASE("a damaged examples.json says what is wrong with it", "[report]") {
  const Scratch scratch;
  const RunFolder run{scratch.path};
  const auto error_of = [&](const std::string& text) {
    run.examples().write(text);
    return read_example_scores(run).error;
  };
  const std::string good = R"({"step": 5, "loss": [0.5], "loss_targets": [1], "targets": [1], "right": [1], )";
  CHECK_THAT(error_of("{"), Contains("examples.json' is damaged"));
  CHECK_THAT(error_of(good + R"("whole_right": []})"), Contains("its lists differ in length"));
  CHECK_THAT(error_of(good + R"("whole_right": [1]})"), Contains("\"whole_right\" is neither true nor false"));
  CHECK_THAT(error_of(R"({"step": 5, "loss": [0.5], "loss_targets": [-1], "targets": [1], "right": [1],
                          "whole_right": [true]})"),
             Contains("\"loss_targets\" has a number below 0"));
  CHECK_THAT(error_of(R"({"step": 5, "loss": [1e999]})"), Contains("it has no \"loss_targets\""));
  CHECK(error_of(good + R"("whole_right": [true]})").empty());
}

TEST_CASE("a sentence states the difference over other examples, too", "[report]") {
  const ReportData report = with_known_examples(0.3);
  REQUIRE(report.arms[1].over_examples);
  const statistics::OverExamples& over = *report.arms[1].over_examples;
  CHECK(over.mean == Approx(0.1));
  // The parts of the examples have the variance 0.09 * 40 / 39, and the rest is only the seeds'.
  const double seeds = 0.001 / 5 / 6, examples = 0.09 * 40 / 39 / 40;
  CHECK(over.share_of_examples == Approx(examples / (seeds + examples)));
  CHECK_THAT(sentence_of(report), Contains("p = 0.031, n = 6. Over other examples, too: +0.100 nats [0.00") &&
                                      Contains("; of its squared error, 99 % comes from examples and 1 % from seeds."));
  CHECK(over_examples_note(report) ==
        "intervals over other examples are Student's, over seeds and 40 examples, with Satterthwaite's degrees of "
        "freedom.");
  ReportData not_asked = report;
  not_asked.examples = false;
  compute_statistics(not_asked);
  CHECK_FALSE(not_asked.arms[1].over_examples);
  CHECK_THAT(sentence_of(not_asked), !Contains("other examples"));
  CHECK(over_examples_note(not_asked).empty());
  CHECK(unknown_examples_note(report).empty());
}

TEST_CASE("seeds whose examples are not known are in no interval over examples", "[report]") {
  ReportData report = with_known_examples(0.01);
  report.arms[1].runs[2].examples.clear();
  report.arms[1].runs[2].id = "0123456789abcdef";
  report.arms[1].runs[2].examples_problem = "it has no checkpoint";
  compute_statistics(report);
  REQUIRE(report.arms[1].over_examples);
  CHECK(report.arms[1].over_examples->mean == Approx((0.11 + 0.09 + 0.08 + 0.1 + 0.1) / 5));
  CHECK(unknown_examples_note(report) ==
        "run 0123456789abcdef is in no interval over other examples: it has no checkpoint.");
  for (ReportRun& run : report.arms[0].runs) run.examples.resize(39); // other examples than the arm's
  compute_statistics(report);
  CHECK_FALSE(report.arms[1].over_examples);
}

TEST_CASE("intervals over examples hold for all arms together", "[report]") {
  ReportData report = with_known_examples(0.3);
  const statistics::Interval of_one = report.arms[1].over_examples->interval;
  ReportArm second = report.arms[1];
  second.label = "b";
  report.arms.push_back(second);
  compute_statistics(report);
  const statistics::Interval of_two = report.arms[1].over_examples->interval;
  CHECK(of_two.high - of_two.low > 1.1 * (of_one.high - of_one.low));
}
