// Fuzz target: `heed compare`, from the bytes of a table to all formats of the report. Lines "--metric accuracy" at the
// top of an input are the question; the rest is the table: CSV, TSV, JSON lines, a JSON list, or an export of charts.
#include "experiments/data/json_fields.hpp"
#include "experiments/data/table_file.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/results/compare_results.hpp"
#include "experiments/system/polling.hpp"
#include "tests/fuzz/target.hpp"

#include <charconv>
#include <cmath>
#include <map>

using namespace heed;
using fuzz::refusal;
using fuzz::require;

namespace {

/// Larger tables are skipped: the flips of 15 pairs and the permutations of 6 and 6 runs are fast.
constexpr std::size_t most_table_cells = 240, most_table_rows = 30, most_unpaired_rows = 12;

struct Stopped {};

/// What the lines at the top ask; `polls`: after this number of polls, the caller stops the comparison. 0: never.
struct Asked {
  ResultRequest question;
  std::size_t polls = 0;
};

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

Asked asked_at_the_top(std::string_view& rest) {
  Asked asked;
  ResultRequest& question = asked.question;
  const std::map<std::string_view, std::string*> texts{
      {"--reference", &question.reference}, {"--seed", &question.seed},        {"--step", &question.step},
      {"--state", &question.state},         {"--time", &question.time},        {"--parameters", &question.parameters},
      {"--run-name", &question.run_name},   {"--test", &question.test},        {"--precision", &question.precision},
      {"--name", &question.name},           {"--question", &question.question}};
  const std::map<std::string_view, std::vector<std::string>*> lists{
      {"--metric", &question.metrics},     {"--arm", &question.arm},   {"--pair", &question.pair},
      {"--group", &question.group},        {"--unit", &question.unit}, {"--bounds", &question.bounds},
      {"--direction", &question.direction}};
  while (rest.starts_with("--")) {
    std::string_view line = fuzz::next_part(rest, '\n');
    const std::string_view word = fuzz::next_part(line, ' ');
    if (const auto text = texts.find(word); text != texts.end()) *text->second = line;
    else if (const auto list = lists.find(word); list != lists.end()) list->second->emplace_back(line);
    else if (word == "--margin") question.margin = number(line);
    else if (word == "--learned") question.learned = number(line);
    else if (word == "--arguments") question.options_are_arguments = true;
    else if (word == "--polls") asked.polls = static_cast<std::size_t>(std::clamp(number(line).value_or(0), 0.0, 1e6));
  }
  return asked;
}

void require_probabilities(const ReportData& report) {
  for (const ReportArm& arm : report.arms) {
    require(arm.reference < report.arms.size() && report.is_reference(report.arms[arm.reference]), "no reference");
    if (!arm.comparison) continue;
    for (const std::optional<double> p :
         {arm.comparison->p, arm.comparison->p_flip, arm.comparison->p_equivalence_flips, arm.p_failed_worst})
      require(!p || (*p >= 0 && *p <= 1), "p is no probability");
    const auto& interval = arm.comparison->interval;
    require(!interval || interval->low <= interval->high, "an interval is upside down");
  }
}

/// All formats; those for programs can be read.
void render_all(const ReportData& report) {
  for (const std::string& text :
       {render_terminal(report, Style{}), render_terminal(report, Style{}, 60), render_markdown(report)})
    require(without_controls(text) == text, "a text for people has terminal commands");
  require(!render_html(report).empty() && !render_latex(report).empty(), "a page is empty");
  json_fields::parsed(report_text(report));
  for (const std::string& csv : {render_csv(report), render_runs_csv(report)}) {
    const std::string why = refusal([&] { read_csv(csv, "written.csv"); });
    require(why.empty(), "a written table is refused: " + why);
  }
  require(render_lengths_csv(report).empty(), "a table has lengths");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text(data, size);
  const Asked asked = asked_at_the_top(rest);
  std::size_t polls = 0;
  const PollScope scope([&] {
    if (++polls == asked.polls) throw Stopped();
  });
  try {
    std::optional<ReportData> report;
    refusal([&] {
      const ResultTable table = read_results(rest, "input.csv");
      const bool unpaired = asked.question.test == "unpaired";
      if (table.rows.size() > (unpaired ? most_unpaired_rows : most_table_rows) ||
          table.rows.size() * table.columns.size() > most_table_cells)
        return;
      report = compare_results(table, asked.question);
    });
    if (!report) return 0;
    require_probabilities(*report);
    render_all(*report);
  } catch (const Stopped&) {
    require(asked.polls > 0, "nobody stopped it");
  }
  return 0;
}
