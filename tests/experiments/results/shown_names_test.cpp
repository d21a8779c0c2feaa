#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/results/results_support.hpp"

#include <boost/json/serialize.hpp>
#include <string>
#include <vector>

using namespace heed;

namespace {

/// Clears the screen, sets a title, turns the direction, and moves the cursor in one character.
const std::string commands = "\x1b[2J\x1b]x\x07\u202e\u009b1A";

bool has_commands(const std::string& text) {
  for (const std::string part : {"\x1b", "\x07", "\u202e", "\u009b"})
    if (text.find(part) != std::string::npos) return true;
  return false;
}

/// In every name of a table.
std::string csv_of_commands(const std::string& c) {
  std::string text =
      fmt::format("\"arm{0}\",\"kind{0}\",\"seed{0}\",\"fold{0}\",\"set{0}\",\"acc{0}\",\"loss{0}\",run\n", c);
  for (int seed = 0; seed < 6; ++seed)
    for (const char* const arm : {"base", "new"})
      text += fmt::format("\"{1}{0}\",\"k{0}\",\"{2}{0}\",\"f{0}\",\"set{0}\",0.{3},{4},\"run{2}{1}{0}\"\n", c, arm,
                          seed, arm[0] == 'b' ? 40 + seed : 60 + seed, seed == 3 ? "nan" : "1");
  return text;
}

} // namespace

TEST_CASE("no name of a table is a command in any format", "[results]") {
  const std::string& c = commands;
  ResultRequest question;
  question.metrics = {"acc" + c, "loss" + c};
  question.arm = {"arm" + c, "kind" + c};
  question.pair = {"seed" + c, "fold" + c};
  question.group = {"set" + c};
  question.direction = {"acc" + c + "=higher", "loss" + c + "=lower"};
  question.unit = {"u" + c};
  question.name = "name" + c;
  question.question = "question" + c;
  // The reference is named by how it is shown.
  const std::string said = refusal([&] {
    question.reference = "none";
    compared(csv_of_commands(c), question);
  });
  CHECK(said.find("the arms are") != std::string::npos);
  CHECK_FALSE(has_commands(said.substr(said.find("the arms are"))));
  question.reference = "arm\\x1b[2J\\x1b]x\\x07\\u202e\\x9b1A = base";
  const ReportData report = compare_results(read_results(csv_of_commands(c), "r" + c + ".csv"), question);
  for (const std::string& text :
       {render_terminal(report, Style{}), render_terminal(report, Style{}, 80), render_markdown(report),
        render_latex(report), render_html(report), render_csv(report), render_runs_csv(report),
        render_lengths_csv(report), boost::json::serialize(report_document(report))})
    CHECK_FALSE(has_commands(text));
  const std::string text = render_terminal(report, Style{});
  for (const char* const name : {"acc\\x1b[2J", "set\\x1b[2J", "arm\\x1b[2J", "kind\\x1b[2J", "loss\\x1b[2J"})
    CHECK(text.find(name) != std::string::npos);
}

TEST_CASE("a table in the wide form has no commands in its report", "[results]") {
  const std::string& c = commands;
  std::string header = "Step", row = "1";
  for (const char* const arm : {"base", "new"})
    for (int seed = 0; seed < 6; ++seed) {
      header += fmt::format(",\"{}{}-seed{} - acc{}\"", arm, c, seed, c);
      row += fmt::format(",0.{}", 40 + seed + (arm[0] == 'n' ? 20 : 0));
    }
  ResultRequest question;
  question.metrics = {"acc" + c};
  question.reference = "base";
  question.direction = {"higher"};
  const ReportData report = compared(header + "\n" + row + "\n", question);
  CHECK_FALSE(has_commands(render_terminal(report, Style{})));
  CHECK_FALSE(has_commands(boost::json::serialize(report_document(report))));
  CHECK(report.arms[0].label.starts_with("base\\x1b[2J"));
}
