// Tests of reports that ask whether arms are not worse than their reference by more than a margin.
#include "autograd/rng.hpp"
#include "experiments/report/answers.hpp"
#include "experiments/report/figures.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/svg_picture.hpp"
#include "experiments/report/tables.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/made_up_sweep.hpp"

#include <boost/json.hpp>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace heed;
using Catch::Contains;
using statistics::Answer;
using test::answer;
using test::note;
using test::sentence;
using test::Values;

namespace {

const Metric share_right{"accuracy", Direction::higher, "", "share of right tokens", 0, 1};
const Values of_reference{0.80, 0.82, 0.79, 0.81, 0.83, 0.78};

Values with(const Values& differences, double by = 0) {
  Values out;
  for (std::size_t i = 0; i < differences.size(); ++i) out.push_back(of_reference[i] + differences[i] + by);
  return out;
}
const Values around{0.004, 0.010, -0.009, 0.011, 0.002, 0.006};

ReportData asked(ReportData report, double margin) {
  report.margin = margin;
  report.asked = statistics::Question::not_worse;
  compute_statistics(report);
  return report;
}

/// An arm of each answer.
ReportData all_answers() {
  return asked(test::sweep_of(share_right, {{"reference", of_reference},
                                            {"alibi", with(around)},
                                            {"rope", with(around, 0.03)},
                                            {"none", with(around, -0.06)},
                                            {"sinusoidal", with(around, -0.018)}}),
               0.02);
}

std::string cell(const ReportData& report, const std::string& key, std::size_t row) {
  const document::Table table = arm_table(report);
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (table.columns[c].keys.front() == key) return table.rows[row].cells[c].text + table.rows[row].cells[c].interval;
  return "no such column";
}

} // namespace

TEST_CASE("an arm of each answer has its word and its sentence", "[report]") {
  const ReportData report = all_answers();
  CHECK(answer(report, 1) == AnswerWord::not_worse);
  CHECK(answer(report, 2) == AnswerWord::better);
  CHECK(answer(report, 3) == AnswerWord::worse);
  CHECK(answer(report, 4) == AnswerWord::undecided);
  CHECK(name_of(AnswerWord::not_worse) == "not worse");
  CHECK_THAT(sentence(report, 1),
             Contains("alibi is not worse by more than 0.02: accuracy is 0.0040 higher, and at most 0.00") &&
                 Contains(" lower (one-sided 95 % bound for all arms together), p = 0.0") && Contains(", n = 6.") &&
                 Contains("None of its 6 runs failed"));
  CHECK_THAT(sentence(report, 2), Contains("rope is better: accuracy is 0.0340 higher, and at least 0.02") &&
                                      Contains(" higher (one-sided 95 % bound"));
  CHECK_THAT(sentence(report, 3),
             Contains("none is worse by more than 0.02: accuracy is 0.0560 lower, and at most 0.06") &&
                 Contains(" lower (one-sided 95 % bound"));
  CHECK_THAT(sentence(report, 4), Contains("sinusoidal is undecided (it may or may not be worse by more than 0.02): "
                                           "accuracy is 0.0140 lower, and at most 0.02"));
}

TEST_CASE("with one arm, a bound is not of all arms; and a metric that should be low is turned", "[report]") {
  const ReportData one = asked(test::sweep_with("arm", {0.03, 0.05, -0.02, 0.01, 0.04, 0.02}), 0.1);
  CHECK_THAT(sentence(one), Contains("arm is not worse by more than 0.1 nats: val_loss is 0.02") &&
                                Contains(" nats higher, and at most 0.0") &&
                                Contains(" nats higher (one-sided 95 % bound), p = 0.016, n = 6."));
  CHECK(cell(one, "difference", 1).find("(-∞, +0.0") != std::string::npos);
  CHECK_THAT(sentence(asked(test::sweep_with("arm", {-0.3, -0.5, -0.2, -0.1, -0.4, -0.2}), 0.1)),
             Contains("arm is better: val_loss is 0.28 nats lower, and at least 0.1") &&
                 Contains(" nats lower (one-sided 95 % bound), p = 0.016, n = 6."));
}

TEST_CASE("five seeds can answer, and four are too few", "[report]") {
  CHECK(answer(asked(test::sweep_with("arm", {0.03, 0.05, -0.02, 0.01, 0.04}), 0.1)) == AnswerWord::not_worse);
  const ReportData four = asked(test::sweep_with("arm", {0.03, 0.05, -0.02, 0.01}), 0.1);
  CHECK(answer(four) == AnswerWord::underpowered);
  CHECK_THAT(sentence(four), Contains("arm is underpowered: with n = 4, p cannot be below 0.0625; at least 5 seeds"));
}

TEST_CASE("differences that are all equal have no bound", "[report]") {
  CHECK_THAT(sentence(asked(test::sweep_with("arm", Values(6, 0.0625), 0.25), 0.1)),
             Contains("arm is not worse by more than 0.1 nats: val_loss is 0") &&
                 Contains("higher in each of 6 seeds, p"));
  CHECK(answer(asked(test::sweep_with("arm", Values(6, 0.0)), 0.1)) == AnswerWord::equal);
}

TEST_CASE("a bound that was moved to the margin has a round bracket", "[report]") {
  // p steps down, after the first arm, and finds the second arm; the joint bound of the second arm does not.
  for (std::uint64_t number = 0; number < 400; ++number) {
    RandomSource random({number, Stream::test, 3});
    std::vector<std::pair<std::string, Values>> arms{{"reference", of_reference}};
    for (const char* name : {"a", "b", "c"}) {
      Values d;
      for (std::size_t i = 0; i < 6; ++i) d.push_back(0.01 * random.normal());
      arms.emplace_back(name, with(d));
    }
    const ReportData report = asked(test::sweep_of(share_right, arms), 0.012);
    for (std::size_t i = 1; i < 4; ++i) {
      const statistics::Comparison& c = *report.arms[i].comparison;
      if (c.answer != Answer::not_worse || c.noninferiority->bound != -0.012) continue;
      CHECK_THAT(sentence(report, i), Contains("less than 0.012 lower"));
      CHECK(cell(report, "difference", i).find("(-0.0120, ∞)") != std::string::npos);
      return;
    }
  }
  FAIL("no bound was moved");
}

TEST_CASE("the table has a one-sided interval, and files have the other p values", "[report]") {
  const ReportData report = all_answers();
  const std::string csv = render_csv(report), text = render_terminal(report, Style{});
  CHECK_THAT(csv, Contains(",p_better,p_worse,") && Contains("not worse"));
  CHECK_THAT(text, Contains("difference [one-sided 95 %]") && Contains(", ∞)"));
  CHECK_THAT(render_latex(report), Contains("\\infty") && Contains("dashed") && !Contains("inf,"));
  CHECK_THAT(render_markdown(report), Contains("not worse"));
  const auto document = report_document(report);
  CHECK(document.at("asked") == "not worse");
  const auto& comparison = document.at("arms").at(1).at("comparison");
  CHECK(comparison.at("answer") == "not worse");
  CHECK(comparison.at("interval").at(1).is_null());
  CHECK(comparison.at("noninferiority").at("bound") == comparison.at("interval").at(0));
  CHECK(document.at("figures").at(0).at("margin_line") == -0.02);
  CHECK(document.at("figures").at(0).at("series").at(0).at("mark") == "not worse");
  CHECK(document.at("figures").at(0).at("margin").is_null());

  ReportData usual = report;
  usual.asked = statistics::Question::difference;
  compute_statistics(usual);
  CHECK_THAT(render_csv(usual), !Contains("p_better"));
  const std::string bytes = boost::json::serialize(report_document(usual));
  CHECK_THAT(bytes, !Contains("noninferiority") && !Contains("margin_line") && !Contains("\"asked\""));
}

TEST_CASE("the figure has an open side, and a line at the margin within its axis", "[report]") {
  for (const bool low : {false, true}) {
    ReportData report = all_answers();
    if (low) {
      report.metric.direction = Direction::lower;
      compute_statistics(report);
    }
    const document::Figure figure = report_figures(report).front();
    CHECK_FALSE(figure.margin);
    CHECK(figure.margin_line == (low ? 0.02 : -0.02));
    CHECK(std::isfinite(figure.x.low));
    CHECK(std::isfinite(figure.x.high));
    CHECK(figure.x.low < *figure.margin_line);
    CHECK(figure.x.high > *figure.margin_line);
    for (const document::Series& series : figure.series) {
      CHECK(std::isinf(low ? series.points[0].low : series.points[0].high));
      CHECK_FALSE(series.outside);
    }
    CHECK_THAT(figure.caption, Contains("one-sided 95 % bounds") && Contains("the dashed line is the margin of 0.02") &&
                                   Contains("diamonds not worse"));
    const std::string svg = svg_figure(figure, false);
    CHECK_THAT(svg, Contains("stroke-dasharray=\"5 3\"") && Contains("class=\"continues\"") && !Contains("inf") &&
                        !Contains("nan"));
  }
}

TEST_CASE("notes say what p is, and that worse has a correction of its own", "[report]") {
  const ReportData report = all_answers();
  CHECK_THAT(note(report, "p").value().text,
             Contains("that the arm is not worse by more than 0.02: the share of all 2^6 = 64 sign flips") &&
                 Contains("step-down max-t method, corrected for the number of arms") &&
                 Contains("a family of its own"));
  CHECK(note(report, "p").value().claim ==
        "of not worse: the share of 2^6 = 64 sign flips with a result at least as clear, corrected for all arms.");
  CHECK_THAT(note(report, "difference").value().text,
             Contains("one-sided bounds that hold for all arms together") && Contains("fewer than 5 seeds"));
  CHECK_THAT(note(report, "answer").value().text, Contains("better if the bound is beyond 0; otherwise not worse"));
  ReportData unpaired = report;
  unpaired.test = statistics::Test::unpaired;
  compute_statistics(unpaired);
  CHECK_THAT(note(unpaired, "p").value().text, Contains("Welch's t test, and of permutations") && Contains("Holm"));
}

TEST_CASE("further metrics are asked for a difference, with a correction of their own", "[report]") {
  ReportData report = all_answers();
  report.also.push_back({"val_loss", Direction::lower, "nats", "cross-entropy"});
  for (ReportArm& arm : report.arms)
    for (std::size_t i = 0; i < arm.runs.size(); ++i) {
      arm.runs[i].also = {1 - *arm.runs[i].value};
      arm.runs[i].also_problems = {""};
    }
  compute_statistics(report);
  CHECK_FALSE(report.arms[1].also[0].comparison->noninferiority);
  CHECK(report.arms[1].also[0].comparison->family == 4);
  CHECK(report.arms[1].comparison->family == 4);
  const std::string text = render_terminal(report, Style{});
  CHECK_THAT(text, Contains("difference of either sign, with a correction of its own"));
  CHECK_THAT(text, Contains("difference [95 %]")); // of the further metric
}

TEST_CASE("arms that are alike share a sentence for readers with little room", "[report]") {
  const ReportData report = asked(test::sweep_of(share_right, {{"reference", of_reference},
                                                               {"a", with(around)},
                                                               {"b", with(around, 0.001)},
                                                               {"c", with(around, -0.018)},
                                                               {"d", with(around, -0.019)}}),
                                  0.02);
  const std::vector<std::string> sentences = short_answer_sentences(report);
  REQUIRE(sentences.size() == 2);
  CHECK_THAT(sentences[0], Contains("a and b are not worse than the reference by more than 0.02 (the largest bound: "
                                    "accuracy is at most 0.0"));
  CHECK_THAT(sentences[1], Contains("c and d are undecided: they may or may not be worse by more than 0.02"));
}

TEST_CASE("looks have their levels, and an answer that one found stays", "[report]") {
  ReportData report = test::sweep_with("arm", {0.03, 0.05, -0.02, 0.01, 0.04, 0.3, 0.4, 0.5});
  report.looks = {5, 8};
  report = asked(std::move(report), 0.1);
  CHECK(report.arms[1].look == 5);
  CHECK(report.arms[1].comparison->answer == Answer::not_worse);
  CHECK_THAT(sentence(report), Contains("arm is not worse by more than 0.1 nats") &&
                                   Contains("Found at the look of 5 seeds (p 0.031 <= 0.0365)") &&
                                   Contains("Over all seeds: +0.16 nats (-∞, ") &&
                                   Contains("this mean is beyond the margin"));
}

TEST_CASE("runs that did not reach a target: only better is tested", "[report]") {
  const auto steps = [](const Values& arm) {
    Metric metric{"steps_to(val_loss, 1)", Direction::lower, "steps", "steps until the target"};
    metric.low = 0;
    metric.high = 110;
    return asked(test::sweep_of(metric, {{"reference", {110, 90, 110, 95, 92, 110}}, {"arm", arm}}), 20);
  };
  const ReportData fast = steps({50, 52, 48, 55, 51, 49});
  CHECK(answer(fast) == AnswerWord::better);
  CHECK_THAT(sentence(fast), Contains("arm is better: ") && Contains("p is by ranks") &&
                                 Contains("only whether the arm is better is tested"));
  const ReportData slow = steps({110, 92, 91, 110, 95, 93});
  CHECK(answer(slow) == AnswerWord::undecided);
  CHECK_THAT(sentence(slow), Contains("undecided (not shown to be better)"));
  CHECK_THAT(note(slow, "p").value().text, Contains("by ranks and of being better"));
}

TEST_CASE("failed runs count as the worst beside the answer", "[report]") {
  ReportData report = test::sweep_of(share_right, {{"reference", {0.80, 0.82, 0.79, 0.81, 0.83, 0.78, 0.80, 0.81}},
                                                   {"arm", {0.805, 0.825, 0.786, 0.818, 0.83, 0.785, 0.80, 0.81}}});
  test::fail(report.arms[1].runs[6]);
  test::fail(report.arms[1].runs[7]);
  report = asked(std::move(report), 0.02);
  CHECK(answer(report) == AnswerWord::not_worse);
  // Ranks of the arm moved by the margin: six differences above 0 and two at the least rank.
  CHECK(report.arms[1].p_failed_worst.value() > 0.05);
  CHECK_THAT(sentence(report), Contains("If failed runs count as the worst of all, p = ") &&
                                   Contains("ranks of values moved by the margin") &&
                                   Contains("the answer does not hold"));
  ReportData other = test::sweep_of(share_right, {{"reference", {0.80, 0.82, 0.79, 0.81, 0.83, 0.78, 0.80}},
                                                  {"arm", {0.805, 0.825, 0.786, 0.818, 0.83, 0.785, 0.81}}});
  test::fail(other.arms[0].runs[6]); // the reference's
  other = asked(std::move(other), 0.02);
  CHECK_THAT(sentence(other), Contains("the answer holds"));
}

TEST_CASE("unpaired runs are answered, too", "[report]") {
  ReportData report = all_answers();
  report.test = statistics::Test::unpaired;
  report.margin = 0.05;
  compute_statistics(report);
  CHECK(answer(report, 1) == AnswerWord::not_worse);
  CHECK(answer(report, 2) == AnswerWord::better);
  CHECK_THAT(sentence(report, 1), Contains("n = 6 and 6 (reference)"));
  CHECK_THAT(report_figures(report).front().caption, Contains("by permutations"));
}
