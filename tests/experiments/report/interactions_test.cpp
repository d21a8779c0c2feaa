// Tests of interactions: whether the effect of one option depends on another option.
#include "experiments/report/answers.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"

#include <boost/json/serialize.hpp>
#include <string>
#include <vector>

using namespace heed;
using Catch::Contains;

namespace {

ReportArm arm(const std::string& label, std::vector<PlannedChange> changes, const std::vector<double>& values) {
  ReportArm out;
  out.label = label;
  out.changes = std::move(changes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ReportRun run;
    run.seed = static_cast<std::int64_t>(10 + i);
    run.state = RunState::finished;
    run.value = values[i];
    out.runs.push_back(run);
  }
  return out;
}

const PlannedChange additive{"attention.score", "\"additive\""}, heads{"attention.heads", "8"};
const std::vector<double> base{1.0, 1.1, 1.2, 1.3, 1.4, 1.5};

std::vector<double> plus(std::vector<double> values, const std::vector<double>& more) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += more[i];
  return values;
}

/// Score and heads crossed: the score alone adds 0.10, the heads alone 0.05, and both together 0.15 plus these values.
ReportData crossed(const std::vector<double>& beyond) {
  ReportData report;
  report.metric = {"val_loss", Direction::lower, "nats", "cross-entropy"};
  for (std::int64_t seed = 10; seed < 16; ++seed) report.seeds.push_back(seed);
  const std::vector<double> score(6, 0.10), few(6, 0.05);
  report.arms = {arm("reference", {}, base), arm("score = additive", {additive}, plus(base, score)),
                 arm("heads = 8", {heads}, plus(base, few)),
                 arm("score = additive, heads = 8", {additive, heads}, plus(plus(plus(base, score), few), beyond))};
  compute_statistics(report);
  return report;
}

} // namespace

TEST_CASE("the interaction of two options is what both make beyond each by itself", "[report]") {
  const ReportData report = crossed({0.20, 0.22, 0.18, 0.21, 0.19, 0.26});
  REQUIRE(report.interactions.size() == 1);
  const Interaction& interaction = report.interactions[0];
  CHECK(interaction.effect_without == Approx(0.10));
  CHECK(interaction.effect_with == Approx(0.31));
  CHECK(interaction.comparison.difference.mean == Approx(0.21));
  CHECK(*interaction.comparison.p == 2.0 / 64); // all six have the same sign
  CHECK(interaction.comparison.answer == statistics::Answer::differs);
  CHECK(interaction.option == "score = additive");
  CHECK(interaction.without == "by itself");
  CHECK(interaction.with == "heads = 8");
  CHECK_THAT(interaction_sentence(report, interaction),
             Contains("+0.100 nats by itself and +0.310 nats with heads = 8;") &&
                 Contains("+0.210 nats [0.178, 0.260], is found, p = 0.031, n = 6."));
  CHECK(answer_sentences(report).back() == interaction_sentence(report, interaction));
}

TEST_CASE("effects that add up are no interaction, and a margin can say so", "[report]") {
  ReportData report = crossed({0.01, -0.02, 0.015, -0.01, 0.02, -0.01});
  CHECK(report.interactions[0].comparison.answer == statistics::Answer::undecided);
  CHECK_THAT(interaction_sentence(report, report.interactions[0]), Contains("+0.001 nats [-0.028, 0.030], p = "));
  report.margin = 0.05;
  compute_statistics(report);
  CHECK(report.interactions[0].comparison.answer == statistics::Answer::same);
  CHECK_THAT(interaction_sentence(report, report.interactions[0]),
             Contains("within 0.05, p = 0.031 (equivalence), n = 6."));
}

TEST_CASE("only seeds that all four arms have count", "[report]") {
  ReportData report = crossed({0.20, 0.22, 0.18, 0.21, 0.19, 0.26});
  report.arms[1].runs[0].value.reset(); // seed 10
  report.arms[3].runs[5].value.reset(); // seed 15
  compute_statistics(report);
  REQUIRE(report.interactions.size() == 1);
  CHECK(report.interactions[0].comparison.seeds == std::vector<std::int64_t>{11, 12, 13, 14});
  CHECK(report.interactions[0].comparison.difference.mean == Approx(0.20));
  CHECK_THAT(interaction_sentence(report, report.interactions[0]), Contains("underpowered: with n = 4"));
}

TEST_CASE("without one of the four arms there is no interaction", "[report]") {
  ReportData report = crossed({0.20, 0.22, 0.18, 0.21, 0.19, 0.26});
  report.arms.erase(report.arms.begin() + 2);
  compute_statistics(report);
  CHECK(report.interactions.empty());
  report = crossed({0.20, 0.22, 0.18, 0.21, 0.19, 0.26});
  report.arms[2].changes[0].value = "4"; // a number of heads that neither arm has
  compute_statistics(report);
  CHECK(report.interactions.empty());
}

TEST_CASE("an arm in several groups is compared with itself in the first", "[report]") {
  ReportData report;
  report.metric = {"val_loss", Direction::lower, "nats", "cross-entropy"};
  report.within = {{"task.copy.length", "length"}};
  const std::vector<double> none(6, 0.0), small(6, 0.1), large{0.4, 0.42, 0.38, 0.41, 0.39, 0.46};
  for (const char* length : {"16", "64"}) {
    const std::size_t first = report.arms.size();
    const bool longer = std::string(length) == "64";
    for (const bool changed : {false, true}) {
      ReportArm one = arm(std::string("length = ") + length + (changed ? ": score = additive" : ""),
                          changed ? std::vector{additive} : std::vector<PlannedChange>{},
                          plus(base, !changed ? none
                                     : longer ? large
                                              : small));
      one.name = changed ? "score = additive" : "reference";
      one.group = {length};
      one.reference = first;
      report.arms.push_back(std::move(one));
    }
  }
  for (std::int64_t seed = 10; seed < 16; ++seed) report.seeds.push_back(seed);
  compute_statistics(report);
  REQUIRE(report.interactions.size() == 1);
  // 0.41 - 0.1, and the differences' ends 0.28 and 0.36.
  CHECK(report.interactions[0].option == "score = additive");
  CHECK(report.interactions[0].comparison.answer == statistics::Answer::differs);
  CHECK_THAT(interaction_sentence(report, report.interactions[0]),
             Contains("+0.100 nats with length = 16 and +0.410 nats with length = 64;") &&
                 Contains("+0.310 nats [0.278, 0.360], is found, p = 0.031, n = 6."));
}

TEST_CASE("interactions stand in every format", "[report]") {
  const ReportData report = crossed({0.20, 0.22, 0.18, 0.21, 0.19, 0.26});
  const std::string said = interaction_sentence(report, report.interactions[0]);
  for (const std::string& text : {render_terminal(report, Style{}, 400), render_markdown(report),
                                  boost::json::serialize(report_document(report))})
    CHECK_THAT(text, Contains(said));
  CHECK_THAT(render_latex(report), Contains("Interaction: the effect of score = additive"));
}

TEST_CASE("an interaction says which arms are at a limit, and how many seeds are excluded", "[report]") {
  ReportData report = crossed({0.20, 0.22, 0.18, 0.21, 0.19, 0.26});
  report.metric = {"val_accuracy", Direction::higher, "", "fraction that is right", 0, 1};
  for (ReportRun& run : report.arms[0].runs) run.value = 1;
  for (ReportRun& run : report.arms[2].runs) run.value = 1;
  compute_statistics(report);
  CHECK_THAT(interaction_sentence(report, report.interactions[0]),
             Contains(" 2 of these four arms are at the ceiling (heads = 8, the reference)"));
  CHECK_THAT(interaction_sentence(report, report.interactions[0]), !Contains("excluded"));
  report.arms[1].runs[2].state = RunState::failed;
  report.arms[1].runs[2].value.reset();
  report.arms[3].runs[4].value.reset(); // finished, without a result
  compute_statistics(report);
  CHECK(report.interactions[0].comparison.seeds.size() == 4);
  CHECK_THAT(interaction_sentence(report, report.interactions[0]), Contains(" 2 of 6 seeds are excluded"));
}
