// Tests of floor and ceiling effects: when a task cannot separate the arms.
#include "experiments/report/json.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/made_up_sweep.hpp"

#include <boost/json/serialize.hpp>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace heed;
using Catch::Contains;
using Catch::StartsWith;
using test::answer;
using test::loss;
using test::note;
using test::sentence;
using test::sweep_of;
using test::Values;

namespace {

const Metric accuracy{"val_accuracy", Direction::higher, "", "fraction that is right", 0, 1};
const Metric rows_right{
    "val_sequence_accuracy", Direction::higher, "", "fraction of rows without a wrong target", 0, 1};
const Task::Chance eight{0.125, "1 / symbols", Task::Level{std::pow(8.0, -8.0), "(1 / symbols)^8"},
                         Task::Level{std::log(8.0), "ln 8"}};

} // namespace

TEST_CASE("the chance level is that of what is measured", "[report]") {
  const auto level = [](Metric metric) {
    const ReportData report = sweep_of(std::move(metric), {{"reference", {0.5}}}, eight);
    const auto found = chance_level(report, report.arms[0]);
    return found ? found->value : -1;
  };
  CHECK(level(accuracy) == 0.125);
  CHECK(level(rows_right) == 1.0 / 16777216);
  CHECK(level({"val_decoded_accuracy", Direction::higher, "", "", 0, 1}) == 1.0 / 16777216);
  CHECK(level(loss) == Approx(2.0794415416798357));
  CHECK(level({"val_perplexity", Direction::lower, "", "", 1}) == Approx(8));
  CHECK(level({"val_bits_per_character", Direction::lower, "bits", ""}) == Approx(3));
  CHECK(level({"val_bleu", Direction::higher, "", "", 0, 100}) == -1);
  CHECK(level({"time_per_token", Direction::lower, "µs", ""}) == -1);
}

TEST_CASE("a metric at a length has the chance of rows of this length", "[report]") {
  Metric at{"val_accuracy_at.64", Direction::higher, "", "", 0, 1};
  ReportData report = sweep_of(at, {{"reference", {0.26, 0.25, 0.24}}}, eight);
  CHECK_FALSE(chance_level(report, report.arms[0])); // the split's rows have other lengths
  CHECK(limit_of(report, report.arms[0]) == Limit::none);
  report.arms[0].chance_at_lengths[64] = {0.25, "1 / 4", std::nullopt, Task::Level{std::log(4.0), "ln 4"}};
  CHECK(chance_level(report, report.arms[0])->value == 0.25);
  CHECK(limit_of(report, report.arms[0]) == Limit::chance);
  report.metric.name = "val_perplexity_at.64";
  CHECK(chance_level(report, report.arms[0])->value == Approx(4));
  report.metric.name = "val_accuracy_at.32";
  CHECK_FALSE(chance_level(report, report.arms[0]));
}

TEST_CASE("notes give the chance of whole rows in powers of ten, not a token's", "[report]") {
  const ReportData report = sweep_of(rows_right, {{"reference", {0.5, 0.6}}, {"a", {0.5, 0.6}}}, eight);
  CHECK_THAT(note(report, "chance").value().text, Contains("val_sequence_accuracy 6.0e-08 ((1 / symbols)^8)") &&
                                                      Contains("5 %") && Contains("best possible value, 1;") &&
                                                      Contains("1 %"));
}

TEST_CASE("both at chance is said first, and the task is blamed", "[report]") {
  const Values guessing{0.12, 0.13, 0.126, 0.124, 0.121, 0.127};
  const Values learned{0.9, 0.92, 0.91, 0.93, 0.9, 0.94};
  const ReportData report = sweep_of(accuracy, {{"reference", guessing}, {"a", guessing}, {"b", learned}}, eight);
  CHECK(limit_of(report, report.arms[0]) == Limit::chance);
  CHECK(limit_of(report, report.arms[2]) == Limit::none);
  const std::vector<std::string> sentences = answer_sentences(report);
  CHECK_THAT(sentences.front(), StartsWith("The reference and a are at chance: ") && Contains("0.1250 (1 / symbols)") &&
                                    Contains("This task") && Contains("train.learning_rate"));
  CHECK(answer(report) == AnswerWord::equal);
  CHECK_THAT(sentences[1], StartsWith("Both at chance: ") && Contains("a is equal to the reference"));
  CHECK(answer(report, 2) == AnswerWord::better);
  CHECK_THAT(sentences[2], StartsWith("b is better: "));
}

TEST_CASE("a difference between two arms at chance is no gain", "[report]") {
  const ReportData report = sweep_of(loss,
                                     {{"reference", {2.0790, 2.0791, 2.0792, 2.0793, 2.0794, 2.0795}},
                                      {"a", {2.0780, 2.0782, 2.0781, 2.0783, 2.0785, 2.0784}}},
                                     eight);
  CHECK(report.arms[1].comparison->answer == statistics::Answer::differs);
  CHECK_THAT(sentence(report), StartsWith("Both at chance: ") && Contains("a differs from the reference by -0.00") &&
                                   Contains("neither better nor worse") && !Contains("is better"));
}

TEST_CASE("one arm at chance is a result, and said to have learned nothing", "[report]") {
  const ReportData report = sweep_of(loss,
                                     {{"reference", {0.1, 0.2, 0.15, 0.1, 0.2, 0.1}},
                                      {"norm = post", {2.0801, 2.0795, 2.0799, 2.081, 2.0797, 2.0796}}},
                                     eight);
  REQUIRE(limit_sentences(report).size() == 1);
  CHECK_THAT(limit_sentences(report)[0], StartsWith("norm = post is at chance: its val_loss") &&
                                             Contains("2.0794 (ln 8)") && !Contains("This task"));
  CHECK(limit_remark(arm_limits(report, report.arms[1])).empty());
}

TEST_CASE("an arm that diverged is worse than chance, not at it", "[report]") {
  // val_loss of models that guess, and of a model whose learning rate is 1e6
  const Values guesses{1.41, 1.43, 1.45, 1.46, 1.47, 1.48}, diverged{2e12, 3e12, 4e12, 2e12, 4e12, 3e12};
  const Task::Chance four{0.25, "1 / symbols", {}, Task::Level{std::log(4.0), "ln symbols"}};
  const ReportData report = sweep_of(loss, {{"reference", guesses}, {"rate = 1e6", diverged}}, four);
  CHECK(limit_of(report, report.arms[0]) == Limit::chance);
  CHECK(limit_of(report, report.arms[1]) == Limit::worse_than_chance);
  const auto said = answer_sentences(report);
  REQUIRE(said.size() == 3);
  CHECK_THAT(said[0], StartsWith("The reference is at chance: its val_loss") && Contains("1.3863 (ln symbols)"));
  CHECK_THAT(said[1], StartsWith("rate = 1e6 is worse than chance: ") && Contains("val_loss 1.3863 (ln symbols)"));
  CHECK(answer(report) == AnswerWord::worse);
  CHECK_THAT(said[2],
             StartsWith("Worse than chance: ") && (Contains("rate = 1e6 is worse: val_loss is 3e+12 nats") ||
                                                   Contains("rate = 1e6 is worse: val_loss is 3.00e+12 nats")));
}

TEST_CASE("an arm that sees what it is to predict is named first, and gets no answer against one that doesn't",
          "[report]") {
  const Values guesses{1.41, 1.43, 1.45, 1.46, 1.47, 1.48}, seen{0.1, 0.11, 0.12, 0.1, 0.12, 0.13},
      also_seen{0.2, 0.21, 0.22, 0.21, 0.22, 0.23};
  ReportData report = sweep_of(loss, {{"reference", guesses}, {"causal = false", seen}, {"other", guesses}}, {});
  CHECK(report.arms[1].comparison->answer == statistics::Answer::differs);
  report.arms[1].leakage = "attention.causal = false";
  compute_statistics(report);
  CHECK_FALSE(report.arms[1].comparison);
  CHECK_FALSE(report.arms[1].learned);
  CHECK(report.arms[2].comparison);
  CHECK(report.arms[2].comparison->family == 1); // p is not corrected for an arm without an answer
  const auto said = answer_sentences(report);
  CHECK_THAT(said.front(),
             StartsWith("causal = false sees what it is to predict (attention.causal = false): its val_loss"));
  CHECK(answer(report) == AnswerWord::none);
  CHECK_THAT(sentence(report), StartsWith("causal = false can't be compared with the reference: it sees"));
  for (const std::string& text :
       {render_markdown(report), render_latex(report), render_html(report), render_terminal(report, Style{})})
    CHECK_THAT(text, Contains("sees what it is to predict"));
  // Two arms above chance can be compared.
  ReportData both = sweep_of(loss, {{"reference", seen}, {"other", also_seen}}, {});
  for (ReportArm& arm : both.arms) arm.leakage = "attention.causal = false";
  compute_statistics(both);
  REQUIRE(both.arms[1].comparison);
  CHECK(both.arms[1].comparison->answer == statistics::Answer::differs);
  CHECK_THAT(answer_sentences(both).front(), StartsWith("The reference and other see what they are to predict"));
  // The arm above chance may be the reference.
  both.arms[1].leakage = "";
  compute_statistics(both);
  CHECK(answer(both) == AnswerWord::none);
  CHECK_THAT(sentence(both), StartsWith("other can't be compared with the reference: that sees"));
}

TEST_CASE("a perplexity stands where its loss does", "[report]") {
  const Task::Chance four{0.25, "1 / symbols", {}, Task::Level{std::log(4.0), "ln symbols"}};
  const Metric perplexity{"val_perplexity", Direction::lower, "", "e to the power of val_loss", 1};
  const ReportData losses = sweep_of(loss, {{"reference", {1.45}}}, four),
                   perplexities = sweep_of(perplexity, {{"reference", {1.45}}}, four);
  for (const double x : {0.0, 1.0, 1.31, 1.32, 1.38, 1.45, 1.46, 3.0}) {
    CAPTURE(x);
    CHECK(standing_of(losses, losses.arms[0], x) == standing_of(perplexities, perplexities.arms[0], std::exp(x)));
  }
  CHECK(standing_of(losses, losses.arms[0], 1.31) == Standing::learned); // 5 % of ln 4 is 0.069
  CHECK(standing_of(losses, losses.arms[0], 1.32) == Standing::at_chance);
  CHECK(standing_of(losses, losses.arms[0], 1.46) == Standing::worse_than_chance);
}

TEST_CASE("seeds that are no better than guessing have not learned", "[report]") {
  const Task::Chance four{0.25, "1 / symbols", {}, Task::Level{std::log(4.0), "ln symbols"}};
  const Metric perplexity{"val_perplexity", Direction::lower, "", "e to the power of val_loss", 1};
  const Values guesses{4.1, 4.2, 4.2, 4.3, 4.3, 4.4}, some{1e21, 1e21, 2e21, 4e22, 4e22, 5e22};
  const ReportData report = sweep_of(perplexity, {{"reference", guesses}, {"rate = 3", some}}, four);
  REQUIRE(report.arms[1].learned);
  CHECK(report.arms[1].learned->arm.seeds == 0);
  CHECK(report.arms[1].learned->reference.seeds == 0);
  CHECK_THAT(
      sentence(report),
      Contains("0 of 6 seeds learned (0 %, 95 % interval [0, 46]; val_perplexity <= 3.73, better than guessing"));
}

TEST_CASE("where some seeds learned, an arm is not at chance, however wide its interval", "[report]") {
  const ReportData report = sweep_of(accuracy, {{"reference", {0.125, 0.125, 0.125, 0.125, 0.125, 0.9}}}, eight);
  // Student's interval of the mean, 0.254 -+ 0.332, includes 0.125.
  CHECK(limit_of(report, report.arms[0]) == Limit::none);
}

TEST_CASE("a little above chance in every seed is above chance", "[report]") {
  // 3 % of the way from chance to perfect, and small compared with its spread.
  const ReportData report = sweep_of(accuracy, {{"reference", {0.151, 0.152, 0.1515, 0.151, 0.152, 0.1515}}}, eight);
  CHECK(limit_of(report, report.arms[0]) == Limit::none);
}

TEST_CASE("at the ceiling two are too good to be told apart, and one is just good", "[report]") {
  const Values all(6, 1.0), most{0.9, 0.91, 0.9, 0.92, 0.9, 0.91};
  ReportData report = sweep_of(accuracy, {{"reference", all}, {"a", all}, {"b", most}}, eight);
  REQUIRE(limit_sentences(report).size() == 1);
  CHECK_THAT(limit_sentences(report)[0],
             StartsWith("The reference and a are at the ceiling: val_accuracy is 1 in all seeds.") &&
                 Contains("too easy") && Contains("steps_to"));
  CHECK_THAT(sentence(report), StartsWith("Both at the ceiling: "));
  report = sweep_of(accuracy, {{"reference", most}, {"a", all}}, eight);
  CHECK(limit_sentences(report).empty());
}

TEST_CASE("without a known chance, the metric's worst is the floor", "[report]") {
  const Values none(6, 0.0);
  const ReportData report = sweep_of({"val_bleu", Direction::higher, "", "BLEU", 0, 100},
                                     {{"reference", none}, {"a", none}}, eight);
  REQUIRE(limit_sentences(report).size() == 1);
  CHECK_THAT(limit_sentences(report)[0],
             StartsWith("The reference and a are at the floor: val_bleu is 0 in all seeds.") &&
                 Contains("train.learning_rate"));
}

TEST_CASE("an arm with a run that failed has no limit", "[report]") {
  ReportData report = sweep_of(accuracy, {{"reference", Values(6, 1.0)}, {"a", Values(6, 1.0)}}, eight);
  test::fail(report.arms[1].runs[2]);
  compute_statistics(report);
  CHECK(limit_sentences(report).empty());
}

TEST_CASE("what is said of limits stands in every format, before the answers", "[report]") {
  const Values all(6, 1.0);
  const ReportData report = sweep_of(accuracy, {{"reference", all}, {"a", all}}, eight);
  const std::string said = "The reference and a are at the ceiling";
  for (const std::string& text : {render_terminal(report, Style{}, 200), render_markdown(report), render_latex(report),
                                  boost::json::serialize(report_document(report))}) {
    INFO(text.substr(0, 400));
    REQUIRE_THAT(text, Contains(said));
    CHECK(text.find(said) < text.find("Both at the ceiling"));
  }
}

TEST_CASE("heaps that lie closer than the margin, or a twentieth of the way from chance, are one", "[report]") {
  // Nearly perfect: 0.9995 is one wrong digit of 2048.
  const auto learned = [](double odd, std::optional<double> margin) {
    const Values all(6, 1.0), one{1, 1, odd, 1, 1, 1};
    ReportData report = sweep_of(accuracy, {{"reference", all}, {"a", one}}, eight);
    report.margin = margin;
    compute_statistics(report);
    return report.arms[1].learned.has_value();
  };
  CHECK_FALSE(learned(0.9995, {}));
  CHECK_FALSE(learned(0.96, {}));  // 0.04 / 0.875 is 4.6 % of the way
  CHECK(learned(0.95, {}));        // 5.7 %
  CHECK_FALSE(learned(0.75, 0.3)); // within the margin
  CHECK(learned(0.6, 0.3));
}

TEST_CASE("of what nobody wants high or low, no side is better", "[report]") {
  Metric metric{"rank_residual.last", Direction::higher, "", "how far tokens are from one vector"};
  metric.direction = Direction::none;
  const ReportData report = sweep_of(metric,
                                     {{"reference", {0.5, 0.51, 0.52, 0.53, 0.54, 0.55}},
                                      {"a", {0.7, 0.72, 0.71, 0.74, 0.73, 0.75}},
                                      {"b", {0, 0, 0, 0, 0, 0}}},
                                     eight);
  CHECK(limit_sentences(report).empty());
  CHECK(answer(report) == AnswerWord::differs);
  CHECK_THAT(sentence(report), StartsWith("a differs: rank_residual.last is 0.2") && Contains(" higher ["));
  CHECK(answer(report, 2) == AnswerWord::differs);
  CHECK_THAT(sentence(report, 2), StartsWith("b differs: rank_residual.last is 0.5") && Contains(" lower ["));
  CHECK_THAT(note(report, "rank_residual.last").value().text, Contains("neither more nor less is better"));
  const auto document = report_document(report, {});
  CHECK(document.at("metric").at("higher_is_better").is_null());
  CHECK(document.at("metric").at("direction") == "neither more nor less is better");
}
