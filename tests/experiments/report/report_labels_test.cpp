// [report.label]: what a report calls metrics and arms.
#include "experiments/report/curves.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

using namespace heed;
using Catch::Contains;
namespace json = boost::json;

namespace {

const std::string sweep = "name = \"labelled\"\n[report]\nmetric = \"val_accuracy\"\nalso = [\"val_loss\"]\n[sweep]\n"
                          "seeds = [0, 1, 2, 3, 4, 5]\n[[sweep.block]]\n"
                          "grid = { \"attention.score\" = [\"additive\", \"cosine\"] }\n";
const std::string labels = "[report.label]\nval_accuracy = \"token accuracy (50 %)\"\n\"score = additive\" = "
                           "\"Bahdanau & Cho\"\nreference = \"dot product\"\n";

Plan plan_of(const Settings& settings) {
  return make_plan(
      settings, [](const Config&) { return "data of a test"; }, "test");
}
Plan plan_of(const std::string& toml) { return plan_of(Settings::parse(toml, "test")); }

std::string refusal(const std::string& toml) {
  try {
    plan_of(toml);
  } catch (const Refused& refused) {
    return refused.what();
  }
  return "";
}

ReportData report_of(const Scratch& out, const Plan& plan) {
  for (const PlannedRun& run : plan.runs) {
    const double shift = 0.1 * static_cast<double>(run.arm) + 0.001 * static_cast<double>(run.seed * run.seed);
    test::run_of(out, run.config, {{10, 1, 0, {{"val_accuracy", 0.5 + shift}, {"val_loss", 2 - shift}}}});
  }
  return collect_report(plan, out.path, out.path / "sweeps" / "test", [](const Config&) { return ArmFacts{{0, ""}}; });
}

} // namespace

TEST_CASE("labels are the report's alone: plans and runs keep their hashes", "[report][labels]") {
  const Plan plain = plan_of(sweep), labelled = plan_of(sweep + labels);
  CHECK(labelled.labels.size() == 3);
  CHECK(labelled.hash == plain.hash);
  CHECK(run_ids(labelled) == run_ids(plain));
  const auto read = plan_from_json(to_json(labelled));
  REQUIRE(read);
  CHECK(read->labels == labelled.labels);
  CHECK_THAT(to_json(plain), !Contains("\"labels\""));
}

TEST_CASE("every format shows labels, and files for programs keep the names", "[report][labels]") {
  const Scratch scratch;
  const ReportData report = report_of(scratch, plan_of(sweep + labels));
  CHECK(report.arms[1].label == "Bahdanau & Cho");
  CHECK(report.arms[0].label == "dot product (reference)");
  CHECK(report.arms[2].label == "score = cosine");
  const std::string text = render_terminal(report, Style{}, 200), markdown = render_markdown(report),
                    latex = render_latex(report);
  CHECK_THAT(text, Contains("token accuracy (50 %)") && !Contains("score = additive"));
  CHECK_THAT(text, Contains("Bahdanau & Cho is better: token accuracy (50 %) is 0.1000 higher"));
  CHECK_THAT(markdown, Contains("Bahdanau \\& Cho") && Contains("token accuracy"));
  CHECK_THAT(latex, Contains("Bahdanau \\& Cho & 6 &") && Contains("token accuracy (50\\,\\%)") &&
                        Contains("difference in token accuracy") && !Contains("score = additive"));
  CHECK_THAT(render_csv(report), Contains("score = additive,") && Contains(",val_accuracy,"));
  CHECK_THAT(render_runs_csv(report), Contains("score = additive,0,") && Contains(",val_accuracy,"));

  const json::value document = report_document(report);
  CHECK(document.at("arms").at(1).at("label") == "score = additive");
  CHECK(document.at("arms").at(1).at("report_label") == "Bahdanau & Cho");
  CHECK(document.at("arms").at(2).at("report_label").is_null());
  CHECK(document.at("metric").at("name") == "val_accuracy");
  CHECK(document.at("metric").at("report_label") == "token accuracy (50 %)");
  CHECK(document.at("also").at(0).at("metric").at("report_label").is_null());
  CHECK(document.at("arms").at(1).at("name") == "score = additive");
  CHECK(document.at("arms").at(1).at("report_name") == "Bahdanau & Cho");
  CHECK(document.at("also").at(0).at("arms").at(1).at("report_label") == "Bahdanau & Cho");
}

TEST_CASE("in groups, an arm's label holds in each group", "[report][labels]") {
  const Scratch scratch;
  const ReportData report = report_of(
      scratch, plan_of("name = \"groups\"\n[report]\nmetric = \"val_accuracy\"\n[model]\nheads = 1\n[sweep]\nseeds = "
                       "[0, 1]\nwithin = "
                       "\"model.heads\"\n[[sweep.block]]\ngrid = { \"attention.score\" = [\"scaled_dot\", "
                       "\"additive\"], \"model.heads\" = [1, 2] }\n[report.label]\n\"score = additive\" = \"add\"\n"));
  REQUIRE(report.arms.size() == 4);
  CHECK(report.arms[1].label == "heads = 1: add");
  CHECK(report.arms[3].name == "add");
  CHECK(report.arms[3].true_label() == "heads = 2: score = additive");
  CHECK(report_document(report).at("interactions").as_array().size() == report.interactions.size());
  for (const Interaction& interaction : report.interactions) {
    CHECK(interaction.option == "add");
    CHECK(interaction.true_option == "score = additive");
  }
}

TEST_CASE("a label of something else is refused, with its place and the nearest name", "[report][labels]") {
  CHECK(
      refusal(sweep + "[report.label]\n\"score = aditive\" = \"x\"\n") ==
      "test:10:1: [report.label] names 'score = aditive', which is neither a metric of this report nor an arm; did you "
      "mean 'score = additive'?");
  CHECK_THAT(refusal(sweep + "[report.label]\nval_perplexity = \"x\"\n"),
             Contains("neither a metric of this report nor an arm; there are 'val_accuracy', 'val_loss', 'reference', "
                      "'score = additive', 'score = cosine'"));
  CHECK_THAT(refusal(sweep + "[report.label]\nval_loss = \"\"\n"), Contains("test:10:12:") && Contains("is empty"));
  CHECK_THAT(refusal(sweep + "[report.label]\nval_loss = 3\n"), Contains("it must be a text"));
  CHECK_THAT(refusal(sweep + "[report.label]\nval_loss = \"a\\u001b\"\n"), Contains("report.label of \"val_loss\""));
  CHECK_THAT(refusal(sweep + "[report.label]\n\"score = additive\" = \"score = cosine\"\n"),
             Contains("has already; choose another text"));
  CHECK_THAT(refusal(sweep + "[report.labels]\nval_loss = \"x\"\n"), Contains("did you mean [report.label]?"));
}

TEST_CASE("a report without a sweep may label all that it measures", "[report][labels]") {
  CHECK(refusal("[report.label]\nval_accuracy = \"accuracy\"\n").empty());
  CHECK_THAT(refusal("[report.label]\nreference = \"x\"\n"), Contains("names 'reference'"));
  CHECK(refusal("train.evaluate_lengths = [8, 16]\nreport.metric = \"val_loss_at.8\"\n[report.label]\nval_loss_at.8 = "
                "\"loss at 8\"\n")
            .empty());
}

TEST_CASE("the command line sets labels", "[report][labels]") {
  Settings settings = Settings::parse(sweep + labels, "test");
  settings.override_with({"report.label.\"score = additive\"=a = b", "report.label.val_loss=loss",
                          "report.label.reference=@default"});
  const Plan plan = plan_of(settings);
  CHECK(plan.labels == std::map<std::string, std::string>{{"score = additive", "a = b"},
                                                          {"val_loss", "loss"},
                                                          {"val_accuracy", "token accuracy (50 %)"}});
  CHECK_THROWS_WITH(settings.override_with({"report.label.\"x=y"}), Contains("report.label.NAME=TEXT"));
  CHECK_THROWS_WITH(settings.override_with({"report.label.val_loss="}), Contains("is empty"));
}
