// Tests of what large tables take: memory for what is in them, time that grows as they do, and a caller who stops them.
#include "experiments/report/answers.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/results/compare_results.hpp"
#include "experiments/system/polling.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/experiments/results/results_support.hpp"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <vector>

using namespace heed;
using test::contains;

namespace {

/// A value that is another one for each line.
double value_of(std::size_t i) { return 0.5 + 0.0001 * static_cast<double>(i * 7919 % 997); }

std::string line_of(const std::string& before, std::size_t seed, std::size_t i) {
  return fmt::format("{},{},{:.4f}\n", before, seed, value_of(i));
}

/// Arms a, m1, m2, ... with seeds of their own.
std::string with_own_seeds(std::size_t arms, std::size_t seeds) {
  std::string text = "model,seed,accuracy\n";
  for (std::size_t i = 0; i < arms * seeds; ++i) text += line_of(i < seeds ? "a" : fmt::format("m{}", i / seeds), i, i);
  return text;
}

/// The arms a and b in each of some groups.
std::string with_groups(std::size_t groups, std::size_t seeds, std::size_t steps = 1) {
  std::string text = "task,step,model,seed,accuracy\n";
  for (std::size_t g = 0; g < groups; ++g)
    for (std::size_t s = 0; s < seeds; ++s)
      for (std::size_t t = 0; t < steps; ++t)
        for (const char* arm : {"a", "b"})
          text += line_of(fmt::format("t{},{},{}", g, t, arm), s, 31 * g + 7 * s + *arm);
  return text;
}

ResultRequest by_task() {
  ResultRequest question = accuracy_of();
  question.group = {"task"};
  return question;
}

const std::vector<std::function<void(const ReportData&)>>& renderers() {
  static const std::vector<std::function<void(const ReportData&)>> all{
      [](const ReportData& report) { render_terminal(report, Style{}, 80); },
      render_markdown,
      render_html,
      render_latex,
      render_csv,
      render_runs_csv,
      [](const ReportData& report) { report_text(report); }};
  return all;
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double seconds_of(const std::function<void()>& work) {
  const double begin = processor_seconds();
  work();
  return processor_seconds() - begin;
}

void compare_and_render(const std::string& text, const ResultRequest& question) {
  const ReportData report = compared(text, question);
  for (const auto& render : renderers()) render(report);
}

} // namespace

TEST_CASE("arms with seeds of their own have runs for their rows, not for all seeds", "[results]") {
  const std::size_t arms = 200, seeds = 5;
  const ReportData report = compared(with_own_seeds(arms, seeds), accuracy_of());
  CHECK(report.count(RunState::finished) == arms * seeds);
  // The reference lacks the seeds of all other arms, and each of these lacks the reference's.
  CHECK(report.no_row() == 2 * (arms - 1) * seeds);
  CHECK(report.arms[0].runs.size() == arms * seeds);
  CHECK(report.arms[7].runs.size() == 2 * seeds);
  CHECK(std::ranges::is_sorted(report.arms[7].runs, {}, &ReportRun::seed));
  CHECK(contains(answer_sentence(report, report.arms[7], TableDigits(report)), " 10 of 10 seeds are excluded"));
}

TEST_CASE("an arm without a seed that a third arm has lacks nothing", "[results]") {
  const ReportData report = compared("model,seed,accuracy\na,1,0.1\na,2,0.2\nb,1,0.3\nb,2,0.4\nc,1,0.5\nc,3,0.6\n",
                                     accuracy_of());
  CHECK(report.arms[0].runs.size() == 3);
  CHECK(report.arms[1].runs.size() == 2);
  CHECK(report.arms[2].runs.size() == 3);
  CHECK(report.no_row() == 2);
  const TableDigits digits(report);
  CHECK_FALSE(contains(answer_sentence(report, report.arms[1], digits), "excluded"));
  CHECK(contains(answer_sentence(report, report.arms[2], digits), " 2 of 3 seeds are excluded"));
}

TEST_CASE("more missing runs than rows are refused before they are made", "[results]") {
  std::string text = "model,seed,accuracy\n";
  for (std::size_t seed = 0; seed < 1000; ++seed) text += line_of("a", seed, seed);
  for (std::size_t arm = 0; arm < 110; ++arm) text += line_of(fmt::format("m{}", arm), arm, arm);
  const std::string why = refusal([&] { compared(text, accuracy_of()); });
  CHECK(contains(why, "r.csv: 1110 runs have rows, and more than 100000 are missing"));
  CHECK(contains(why, "At most 100000 can be missing. Leave out rows of seeds that few arms have, or compare runs "
                      "without pairs with --test unpaired"));
  ResultRequest unpaired = accuracy_of();
  unpaired.test = "unpaired";
  CHECK(refusal([&] { compared(text.substr(0, text.find("m5,")), unpaired); }) == "not refused");
}

TEST_CASE("JSON objects with members of their own store only these", "[results]") {
  const std::size_t rows = 2000;
  std::string text;
  for (std::size_t i = 0; i < rows; ++i)
    text += fmt::format("{{\"model\":\"{}\",\"seed\":{},\"accuracy\":{:.4f},\"x{}\":1}}\n", i % 2 ? "a" : "b", i / 2,
                        value_of(i), i);
  const ResultTable table = read_results(text, "r.jsonl");
  CHECK(table.columns.size() == rows + 3);
  std::size_t cells = 0;
  for (const ResultRow& row : table.rows) cells += table.cells(row).size();
  CHECK(cells == 4 * rows);
  CHECK(table.cell(table.rows[1999], 2002) == "1");
  CHECK(table.cell(table.rows[1999], 2001).empty());
  CHECK(compared(text, accuracy_of()).arms[1].comparison->seeds.size() == rows / 2);
}

TEST_CASE("empty cells take nothing", "[results]") {
  const ResultTable table = read_results("{\"a\":{\"b\":1},\"c\":null,\"d\":\" \"}", "r.jsonl");
  CHECK(table.columns == std::vector<std::string>{"a.b", "c", "d"});
  CHECK(table.cell(table.rows[0], 0) == "1");
  CHECK(table.cells(table.rows[0]).size() == 1);
}

TEST_CASE("too many columns, and names of columns that are too long, are refused", "[results]") {
  std::string header = "c0";
  for (int i = 1; i < 10'001; ++i) header += fmt::format(",c{}", i);
  CHECK(contains(refusal([&] { read_results(header + "\n" + header, "r.csv"); }),
                 "r.csv:1: this row has more than 10000"));
  std::string members = "{\"c0\":1";
  for (int i = 1; i < 10'001; ++i) members += fmt::format(",\"c{}\":1", i);
  CHECK(contains(refusal([&] { read_results(members + "}", "r.jsonl"); }), "r.jsonl:1: the table has more than 10000"));
  const std::string name(1001, 'x');
  CHECK(contains(refusal([&] { read_results("model," + name + "\na,1\n", "r.csv"); }),
                 "r.csv:1: the name of a column has 1001 bytes"));
}

TEST_CASE("values of many metrics are refused before they are made", "[results][many]") {
  std::string text = "model,seed";
  ResultRequest question = accuracy_of();
  question.metrics.clear();
  for (int i = 0; i < 2000; ++i) {
    question.metrics.push_back(fmt::format("acc{}", i));
    text += "," + question.metrics.back();
  }
  text += "\n";
  const std::string empty(2000, ',');
  for (int i = 0; i < 5001; ++i) text += fmt::format("{},{}{}\n", i % 2 ? "a" : "b", i / 2, empty);
  CHECK(contains(
      refusal([&] { compared(text, question); }),
      "r.csv: there are 2000 metrics for 5001 runs and more; at most 10 million values are compared together"));
}

TEST_CASE("time grows as the number of groups, of further metrics and of reasons does", "[results][many]") {
  // Four times as many take four times as long, or sixteen times if each one looks at each other.
  const auto ratio = [](const std::function<void(std::size_t)>& work) {
    work(1); // what is done once
    const double one = seconds_of([&] { work(1); });
    return seconds_of([&] { work(4); }) / one;
  };
  CHECK(ratio([](std::size_t n) { compare_and_render(with_groups(600 * n, 2), by_task()); }) < 9);
  CHECK(ratio([](std::size_t n) {
          std::string text = "model,seed", values;
          ResultRequest question = accuracy_of();
          question.metrics.clear();
          for (std::size_t i = 0; i < 40 * n; ++i) {
            question.metrics.push_back(fmt::format("acc{}", i));
            text += "," + question.metrics.back();
            values += fmt::format(",{:.4f}", value_of(i));
          }
          for (int run = 0; run < 80; ++run) text += fmt::format("\nm{},{}{}", run / 2, run % 2, values);
          question.reference = "m0";
          compare_and_render(text + "\n", question);
        }) < 9);
  CHECK(ratio([](std::size_t n) {
          std::string text = "arm,seed,run,state,accuracy,seconds,folder,problem\n";
          for (std::size_t i = 0; i < 2000 * n; ++i) {
            std::string letters = fmt::format("{}", i);
            for (char& c : letters) c = static_cast<char>(c - '0' + 'a');
            text += fmt::format("{},{},r,failed,,1,,it was {}\n", i % 2 ? "reference" : "b", i / 2, letters);
          }
          ResultRequest question;
          question.metrics = {"accuracy"};
          compare_and_render(text, question);
        }) < 9);
}

TEST_CASE("a comparison and its formats ask the caller many times a second, who can stop each of them",
          "[results][many]") {
  ResultRequest unpaired = accuracy_of();
  unpaired.test = "unpaired";
  unpaired.margin = 0.01;
  std::string uneven = "model,seed,accuracy\n";
  for (std::size_t i = 0; i < 60; ++i) uneven += line_of(i < 30 ? "a" : i < 50 ? "b" : "c", i, i);
  std::string twenty = "model,seed,accuracy\n", many = twenty;
  for (std::size_t i = 0; i < 60; ++i) twenty += line_of(i < 20 ? "a" : i < 40 ? "b" : "c", i % 20, i);
  for (std::size_t i = 0; i < 8000; ++i) many += line_of(i < 4000 ? "a" : "b", i % 4000, i);
  ResultRequest margin = accuracy_of();
  margin.margin = 0.01;
  const std::vector<std::pair<std::string, ResultRequest>> all{{uneven, unpaired},
                                                               {twenty, margin},
                                                               {many, margin},
                                                               {with_groups(400, 2, 3), by_task()},
                                                               {with_groups(3, 2, 4000), by_task()}};
  for (std::size_t which = 0; which < all.size(); ++which) {
    CAPTURE(which);
    double last = processor_seconds(), longest = 0;
    std::size_t polls = 0, stop_at = 0;
    struct Stop {};
    const PollScope scope([&] {
      const double now = processor_seconds();
      longest = std::max(longest, now - last);
      last = now;
      if (++polls == stop_at) throw Stop();
    });
    const auto& [text, question] = all[which];
    const ReportData report = compared(text, question);
    std::vector<std::size_t> ends{polls};
    for (const auto& render : renderers()) {
      render(report);
      ends.push_back(polls);
    }
    CHECK(longest < 0.2);
    CHECK(std::ranges::adjacent_find(ends) == ends.end());
    // Stopped in the middle, it throws what the caller threw.
    polls = 0;
    stop_at = 1 + ends.front() / 2;
    CHECK_THROWS_AS(compared(text, question), Stop);
    for (const auto& render : renderers()) {
      polls = 0;
      stop_at = 1;
      CHECK_THROWS_AS(render(report), Stop);
    }
  }
}
