// Tests of the report's document: what it decides, every format shows.
#include "experiments/report/json.hpp"
#include "experiments/report/latex.hpp"
#include "experiments/report/markdown.hpp"
#include "experiments/report/notes.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/experiments/report/awkward_report.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <set>
#include <string>

using namespace heed;
using document::Column;
using test::contains;

namespace {

/// A report in which nearly every column has something: eight seeds, better, worse, the same, equal, and undecided.
ReportData full_report() {
  ReportData report = awkward_report();
  report.seeds.clear();
  const double noise[] = {0.01, -0.02, 0.015, 0, -0.01, 0.02, -0.005, 0.005};
  const auto runs = [&](double mean, double spread) {
    std::vector<ReportRun> out;
    for (std::int64_t seed = 0; seed < 8; ++seed)
      out.push_back(finished_run(seed, mean + 0.1 * static_cast<double>(seed) + spread * noise[seed]));
    return out;
  };
  for (std::int64_t seed = 0; seed < 8; ++seed) report.seeds.push_back(seed);
  report.arms = {arm_of("reference", runs(1, 0)), arm_of("up", runs(1.5, 1)), arm_of("down", runs(0.5, 1)),
                 arm_of("near", runs(1, 0.1)),    arm_of("twin", runs(1, 0)), arm_of("wide", runs(1, 30))};
  compute_statistics(report);
  return report;
}

std::string word_of(const ReportData& report, std::size_t arm) {
  return std::string(name_of(answer_word(report.arms[arm].comparison, report.metric)));
}

} // namespace

TEST_CASE("the table of arms has a cell for each column, with a value for each key", "[report][document]") {
  const ReportData report = full_report();
  const document::Table table = arm_table(report);
  REQUIRE(table.rows.size() == report.arms.size());
  std::set<std::string> keys;
  for (const Column& column : table.columns) {
    CHECK((column.detail == Column::Detail::files) == column.title.empty());
    for (const std::string& key : column.keys) CHECK(keys.insert(key).second); // each key once
  }
  for (const document::Row& row : table.rows) {
    REQUIRE(row.cells.size() == table.columns.size());
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      CHECK((row.cells[c].values.empty() || row.cells[c].values.size() == table.columns[c].keys.size()));
  }
}

TEST_CASE("answers are one word each", "[report][document]") {
  const ReportData report = full_report();
  CHECK(word_of(report, 0) == "none");
  CHECK(word_of(report, 1) == "worse");
  CHECK(word_of(report, 2) == "better");
  CHECK(word_of(report, 3) == "same");
  CHECK(word_of(report, 4) == "equal");
  CHECK(word_of(report, 5) == "undecided");
}

TEST_CASE("every text format has all columns for people, and every note", "[report][document]") {
  const ReportData report = full_report();
  const document::Table table = arm_table(report);
  const std::string terminal = render_terminal(report, Style{}), markdown = render_markdown(report),
                    latex = render_latex(report), csv = render_csv(report);
  for (const Column& column : table.columns) {
    for (const std::string& key : column.keys) CHECK(contains(csv.substr(0, csv.find('\r')), key));
    if (column.detail != Column::Detail::main) continue;
    INFO(column.title);
    CHECK(contains(terminal, column.title));
    CHECK(contains(markdown, markdown_text(column.title, true)));
    CHECK((contains(latex, latex_text(column.title)) || contains(latex, "$" + column.title + "$")));
  }
  for (const document::Note& note : report_notes(report)) {
    INFO(note.name);
    CHECK(contains(terminal, note.name + ": " + note.text));
    CHECK(contains(markdown, markdown_text(note.name + ": " + note.text)));
    CHECK(contains(latex, "\\emph{" + latex_text(note.name) + "}: " + latex_text(note.text)));
    CHECK_FALSE(note.claim.empty());
  }
}

TEST_CASE("JSON and the page have the table and the notes whole", "[report][document]") {
  const ReportData report = full_report();
  const document::Table table = arm_table(report);
  const boost::json::object json = report_document(report);
  const boost::json::value& written = json.at("tables").at(0);
  REQUIRE(written.at("columns").as_array().size() == table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    CHECK(written.at("columns").at(c).at("title").as_string() == table.columns[c].title);
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const boost::json::object& cell = written.at("rows").at(r).at("cells").at(c).as_object();
      const boost::json::value* const text = cell.if_contains("text");
      CHECK((text ? std::string(text->as_string()) : "") == table.rows[r].cells[c].text);
    }
  const auto notes = report_notes(report);
  REQUIRE(json.at("notes").as_array().size() == notes.size());
  for (std::size_t i = 0; i < notes.size(); ++i) CHECK(json.at("notes").at(i).at("text").as_string() == notes[i].text);
}

TEST_CASE("the short form of the terminal has a sentence for arms with the same answer", "[report][document]") {
  ReportData report = full_report();
  report.arms.push_back(report.arms[4]);
  report.arms.back().label = "triplet";
  compute_statistics(report);
  const std::string text = render_terminal(report, Style{}, 0, false);
  CHECK(contains(text, "twin and triplet are equal"));
  CHECK(contains(text, "up is worse: "));
  CHECK(contains(render_terminal(report, Style{}), "twin is equal"));
  for (const document::Note& note : report_notes(report)) CHECK(contains(text, note.name + ": " + note.claim));
}

TEST_CASE("a report of 13 arms in the short form fits 60 lines of 100 columns", "[report][document]") {
  ReportData report = full_report();
  report.arms.resize(1);
  for (int arm = 0; arm < 12; ++arm) {
    std::vector<ReportRun> runs;
    for (std::int64_t seed = 0; seed < 8; ++seed) // four arms each are worse, the same and undecided
      runs.push_back(finished_run(seed,
                                  1 + 0.1 * static_cast<double>(seed) + (arm % 3 == 0 ? 0.5 : 0) +
                                      (arm % 3 == 1 ? 1e-3 : 0.3) * static_cast<double>(seed * (arm + 3) % 5 - 2)));
    report.arms.push_back(arm_of(fmt::format("score = number {}", arm), std::move(runs)));
  }
  compute_statistics(report);
  const std::string text = render_terminal(report, Style{}, 100, false);
  INFO(text);
  CHECK(std::ranges::count(text, '\n') <= 60);
}
