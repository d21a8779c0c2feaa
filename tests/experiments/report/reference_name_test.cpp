// What reports call the reference.
#include "experiments/report/notes.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <algorithm>

using namespace heed;
using Catch::Contains;

namespace {

ReportData named_report(const Scratch& scratch, const std::string& sweep) {
  const Plan plan = make_plan(
      Settings::parse("name = \"names\"\n[position]\nkind = \"none\"\n" + sweep, "test"),
      [](const Config&) { return "data of a test"; }, "test");
  return collect_report(plan, scratch.path, scratch.path / "sweeps" / "test", [](const Config&) {
    return ArmFacts{{0, ""}};
  });
}

} // namespace

TEST_CASE("The reference's name has its values of the options that arms change", "[report]") {
  const Scratch scratch;
  const ReportData report = named_report(scratch, "[[sweep.block]]\ngrid = { \"position.kind\" = [\"alibi\"] }\n");
  CHECK(report.arms[0].label == "reference (position = none)");
  CHECK(report.arms[1].label == "position = alibi");
  CHECK_THAT(render_terminal(report, Style{}, 200), Contains("  reference (position = none)  "));
}

TEST_CASE("The longest length of training is known for tasks with such an option", "[report]") {
  const Scratch scratch;
  const std::string block = "[[sweep.block]]\ngrid = { \"block.norm\" = [\"post\"] }\n";
  CHECK(named_report(scratch, "[task]\nkind = \"copy\"\n[task.copy]\nlength = 12\n" + block).arms[1].training_length ==
        12);
  CHECK(named_report(scratch, "[task]\nkind = \"addition\"\n[task.addition]\ndigits = 3\n" + block)
            .arms[0]
            .training_length == 3);
}

TEST_CASE("With many such options, a note has the values", "[report]") {
  const Scratch scratch;
  const ReportData report = named_report(scratch,
                                         "[[sweep.block]]\ngrid = { \"position.kind\" = [\"alibi\"], "
                                         "\"attention.score\" = [\"cosine\"], \"block.norm\" = [\"post\"] }\n");
  CHECK(report.arms[0].label == "reference");
  const std::vector<document::Note> notes = report_notes(report);
  const auto found = std::ranges::find(notes, "reference", &document::Note::name);
  REQUIRE(found != notes.end());
  CHECK(found->text == "position = none, score = scaled_dot, norm = pre.");
}

TEST_CASE("[sweep] reference names it", "[report]") {
  const Scratch scratch;
  const ReportData report = named_report(scratch, "[sweep]\nreference = \"no positions\"\n"
                                                  "[[sweep.block]]\ngrid = { \"position.kind\" = [\"alibi\"] }\n");
  CHECK(report.arms[0].label == "no positions (reference)");
}

TEST_CASE("In groups, each reference has the name after its group's", "[report]") {
  const Scratch scratch;
  const ReportData report = named_report(scratch,
                                         "[sweep]\nwithin = \"model.heads\"\n"
                                         "[[sweep.block]]\ngrid = { \"position.kind\" = [\"none\", \"alibi\"], "
                                         "\"model.heads\" = [1, 2] }\n");
  CHECK(report.arms[0].label == "heads = 1: reference (position = none)");
  CHECK(report.arms[0].name == "reference (position = none)");
}

TEST_CASE("A run without a sweep has its own name, and a table of all that it measured", "[report]") {
  const Scratch scratch;
  const ReportData report = named_report(scratch, "");
  CHECK(report.arms[0].label == "names");
  CHECK(measured_table(report).headings.front() == "metric");
  CHECK_THAT(render_terminal(report, Style{}, 200), !Contains("reference"));
  CHECK(render_lengths_csv(report).empty());
  test::run_of(scratch, "name = \"names\"\n[position]\nkind = \"none\"\n", test::losses({1.5}));
  const std::string latex = render_latex(named_report(scratch, ""));
  CHECK_THAT(latex, Contains("metric & value & unit & better") && Contains("val\\_loss & 1.500 & nats & lower \\\\") &&
                        !Contains("reference") && !Contains("arm & $n$"));
}

TEST_CASE("A formula of an arm with a name is stated once", "[report]") {
  const Scratch scratch;
  const ReportData report =
      named_report(scratch, "[[sweep.block]]\narms.penalty = { \"attention.score_mod\" = \"s - abs(i - j) / 4\", "
                            "\"attention.normalizer\" = \"sigmoid\", \"train.steps\" = 5 }\n"
                            "[[sweep.block]]\ngrid = { \"attention.score_mod\" = [\"s / 2\"] }\n");
  REQUIRE(report.arms.size() == 3);
  const auto times = [](const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
  };
  // With all that the arm changes in the attention, and nothing else.
  const std::string formula = "penalty: attention.score_mod = s - abs(i - j) / 4; attention.normalizer = sigmoid\n";
  CHECK(times(render_terminal(report, Style{}, 200), formula) == 1);
  CHECK(times(render_latex(report), "penalty}: attention.score\\_mod = s - abs(i - j) / 4") == 1);
  CHECK(times(render_markdown(report), "- penalty: attention.score_mod = s - abs(i - j) / 4") == 1);
  // The label of the other arm is its formula.
  CHECK(times(render_terminal(report, Style{}, 200), "attention.score_mod = s / 2") == 0);
}
