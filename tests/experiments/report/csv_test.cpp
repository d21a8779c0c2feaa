// Tests of the report as comma-separated values. A separate reader in this file reads them back.
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/awkward_report.hpp"

#include <algorithm>
#include <map>
#include <string>

using namespace heed;

namespace {

/// Reads RFC 4180: commas separate fields; a field in quotes may have any character, with quotes doubled; lines end in
/// CR LF.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = lines.back().back();
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') field += text[++i];
    else if (text[i] == '"') quoted = !quoted;
    else if (!quoted && text[i] == ',') lines.back().emplace_back();
    else if (!quoted && text.compare(i, 2, "\r\n") == 0) {
      lines.push_back({""});
      ++i;
    } else field += text[i];
  }
  REQUIRE_FALSE(quoted);
  REQUIRE(lines.back() == std::vector<std::string>{""});
  lines.pop_back();
  return lines;
}

using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const std::string& text) {
  const auto lines = read_csv(text);
  std::vector<Row> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    REQUIRE(lines[i].size() == lines[0].size());
    Row row;
    for (std::size_t c = 0; c < lines[0].size(); ++c) row[lines[0][c]] = lines[i][c];
    REQUIRE(row.size() == lines[0].size()); // no column twice
    rows.push_back(row);
  }
  return rows;
}

} // namespace

TEST_CASE("a line for each arm, with numbers that read as the same numbers", "[report]") {
  const ReportData report = awkward_report();
  const std::vector<Row> rows = rows_of(render_csv(report));
  REQUIRE(rows.size() == 3);
  for (std::size_t a = 0; a < rows.size(); ++a) {
    CHECK(rows[a].at("arm") == report.arms[a].label);
    CHECK(std::stod(rows[a].at("mean")) == *report.arms[a].mean);
    CHECK(rows[a].at("parameters") == "103424");
  }
  CHECK(rows[1].at("changes") == "attention.score = additive; model.width = 64");
  CHECK(std::stod(rows[1].at("difference")) == report.arms[1].comparison->difference.mean);
  CHECK(std::stod(rows[1].at("difference_student_high")) == report.arms[1].comparison->difference.interval->high);
  CHECK(rows[1].at("pairs") == "3");
  CHECK(rows[2].at("pairs") == "2");
}

TEST_CASE("what is not known is empty, as is the reference's comparison", "[report]") {
  ReportData report = awkward_report();
  report.arms[1].cost.reset();
  const std::vector<Row> rows = rows_of(render_csv(report));
  for (const char* column : {"difference", "difference_low", "pairs", "p", "effect_size", "answer"})
    CHECK(rows[0].at(column).empty());
  CHECK(rows[1].at("parameters").empty());
}

TEST_CASE("every statistic has its column", "[report]") {
  ReportData report = awkward_report();
  statistics::Comparison& c = *report.arms[1].comparison;
  c.interval = {0.01, 0.02};
  c.interval_flips = {0.03, 0.04};
  c.difference.interval = {0.05, 0.06};
  c.interquartile = {0.11, statistics::Interval{0.12, 0.13}};
  c.effect_size = 0.14;
  c.improvement = {0.15, statistics::Interval{0.16, 0.17}};
  c.p = 0.18;
  c.p_flip = 0.19;
  c.p_holm = 0.21;
  c.margin = 0.22;
  c.p_equivalence = 0.23;
  c.p_equivalence_flips = 0.24;
  c.answer = statistics::Answer::same;
  const Row row = rows_of(render_csv(report))[1];
  const Row expected{{"difference_low", "0.01"},
                     {"difference_high", "0.02"},
                     {"difference_flips_low", "0.03"},
                     {"difference_flips_high", "0.04"},
                     {"difference_student_low", "0.05"},
                     {"difference_student_high", "0.06"},
                     {"interquartile_difference", "0.11"},
                     {"interquartile_difference_low", "0.12"},
                     {"interquartile_difference_high", "0.13"},
                     {"effect_size", "0.14"},
                     {"improvement", "0.15"},
                     {"improvement_low", "0.16"},
                     {"improvement_high", "0.17"},
                     {"p", "0.18"},
                     {"p_flip", "0.19"},
                     {"p_holm", "0.21"},
                     {"margin", "0.22"},
                     {"p_equivalence", "0.23"},
                     {"p_equivalence_flips", "0.24"},
                     {"answer", "same"}};
  for (const auto& [column, value] : expected) {
    INFO(column);
    CHECK(row.at(column) == value);
  }
}

TEST_CASE("a run's further metrics have columns of their own", "[report]") {
  ReportData report = awkward_report();
  report.also = {{"val_accuracy", Direction::higher, "", "fraction that is right", 0, 1}};
  report.arms[0].runs[1].also = {0.75};
  const std::vector<Row> rows = rows_of(render_runs_csv(report));
  CHECK(rows[1].at("val_accuracy") == "0.75");
  CHECK(rows[0].at("val_accuracy").empty());
}

TEST_CASE("a line for each run, with the reason where it failed", "[report]") {
  const ReportData report = awkward_report();
  const std::vector<Row> rows = rows_of(render_runs_csv(report));
  REQUIRE(rows.size() == 9);
  CHECK(rows[3].at("arm") == awkward_label);
  CHECK(rows[3].at("val_loss") == "1.3");
  CHECK(rows[3].at("folder") == "runs/0000000000000010");
  CHECK(rows[7].at("state") == "failed");
  CHECK(rows[7].at("val_loss").empty());
  CHECK(rows[7].at("problem") == "NaN loss at step 17,\nfirst made by \"softmax\"");
}
