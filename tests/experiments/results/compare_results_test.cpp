// Tests of comparing a table's results: against the statistics called directly, and every refusal.
#include "experiments/results/compare_results.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "experiments/statistics/comparison.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/experiments/results/results_support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace heed;
using test::contains;

namespace {

const ReportArm& arm_called(const ReportData& report, const std::string& label) {
  for (const ReportArm& arm : report.arms)
    if (arm.label == label) return arm;
  FAIL("no arm is called " << label);
  return report.arms.front();
}

void check_equal(const statistics::Comparison& found, const statistics::Comparison& wanted) {
  CHECK(found.seeds == wanted.seeds);
  CHECK(found.difference.mean == wanted.difference.mean);
  CHECK(found.p == wanted.p);
  CHECK(found.p_flip == wanted.p_flip);
  CHECK(found.p_equivalence_flips == wanted.p_equivalence_flips);
  CHECK(found.answer == wanted.answer);
  REQUIRE(found.interval.has_value() == wanted.interval.has_value());
  if (wanted.interval) CHECK(found.interval->low == wanted.interval->low);
  if (wanted.interval) CHECK(found.interval->high == wanted.interval->high);
}

} // namespace

TEST_CASE("values have all the digits that they state", "[results]") {
  // float32 knows -1000000.00 and -999999.94, and nothing between them.
  std::string text = "model,seed,elbo\n";
  for (int seed = 0; seed < 8; ++seed) {
    const double base = -1e6 + 0.137 * seed;
    text += fmt::format("a,{},{:.3f}\nb,{},{:.3f}\n", seed, base, seed, base + 0.02 + 0.001 * seed);
  }
  ResultRequest question;
  question.metrics = {"elbo"};
  question.reference = "a";
  question.direction = {"higher"};
  const ReportData report = compared(text, question);
  CHECK(report.arms[1].comparison->difference.mean == Approx(0.0235).epsilon(1e-6));
  CHECK(report.arms[1].comparison->answer == statistics::Answer::differs);
  question.precision = "float32";
  CHECK(compared(text, question).arms[1].comparison->answer != statistics::Answer::differs);
}

TEST_CASE("each metric has its own mean, spread and interquartile mean", "[results]") {
  ResultRequest question;
  question.metrics = {"acc", "loss"};
  question.reference = "a";
  const std::vector<double> loss = {0.9, 0.8, 0.9, 0.8, 0.9, 0.7};
  std::string text = "model,seed,acc,loss\n";
  for (std::size_t seed = 0; seed < loss.size(); ++seed)
    text += fmt::format("a,{0},0.8,1.1\nb,{0},0.8{0},{1}\n", seed, loss[seed]);
  int metrics = 0;
  each_further_metric(compared(text, question), [&](std::size_t, const ReportData& further) {
    ++metrics;
    const ReportArm& arm = further.arms[1];
    CHECK(arm.values == 6);
    CHECK(*arm.mean == Approx(5.0 / 6));
    CHECK(*arm.standard_deviation == Approx(std::sqrt(1.0 / 150)));
    // Of 0.7, 0.8, 0.8, 0.9, 0.9, 0.9 the middle three: a quarter of six is one and a half at each end.
    CHECK(*arm.interquartile_mean == Approx((0.5 * 0.8 + 0.8 + 0.9 + 0.5 * 0.9) / 3));
  });
  CHECK(metrics == 1);
}

TEST_CASE("margins and thresholds beyond a metric's range are refused, as in sweeps", "[results]") {
  const std::string text = csv_of_three_arms(); // accuracies from 0 to 1
  const auto refused = [&](const auto& change) {
    ResultRequest question = accuracy_of();
    change(question);
    return refusal([&] { compared(text, question); });
  };
  CHECK(contains(refused([](ResultRequest& q) { q.margin = 1; }),
                 "--margin = 1: accuracy is always between 0 and 1, so any two arms would be the same"));
  CHECK(contains(refused([](ResultRequest& q) { q.margin = 5; }), "--margin = 5: accuracy is always between 0 and 1"));
  CHECK(contains(refused([](ResultRequest& q) { q.learned = 90; }),
                 "--learned = 90: accuracy is always between 0 and 1; take a value in this range"));
  CHECK(refused([](ResultRequest& q) { q.margin = 0.9; }) == "not refused");
  CHECK(refused([](ResultRequest& q) {
          q.metrics = {"loss"};
          q.margin = 5;
          q.learned = 90;
        }) == "not refused");
}

TEST_CASE("whether arms are not worse is asked with a margin and a direction", "[results]") {
  const std::string text = csv_of_three_arms();
  const auto asked = [&](const auto& change) {
    ResultRequest question = accuracy_of();
    question.answer = "not worse";
    change(question);
    return question;
  };
  const auto refused = [&](const auto& change) { return refusal([&] { compared(text, asked(change)); }); };
  CHECK(contains(
      refused([](ResultRequest&) {}),
      "--answer: whether an arm is not worse needs a margin, the most by which it may be worse; set --margin to a "
      "number above 0"));
  CHECK(contains(refused([](ResultRequest& q) {
                   q.margin = 0.1;
                   q.direction = {"none"};
                 }),
                 "neither more nor less of it is better; ask for \"same\", or name another metric (--metric or "
                 "--direction)"));
  CHECK(contains(refused([](ResultRequest& q) { q.answer = "notworse"; }), "--answer \"notworse\": it must be"));
  const ReportData report = compared(text, asked([](ResultRequest& q) { q.margin = 0.1; }));
  CHECK(report.asks_not_worse());
  for (const ReportArm& arm : report.arms)
    if (arm.comparison) CHECK(arm.comparison->noninferiority);
}

namespace {

/// A table with a group for each list of seeds.
std::string csv_of_groups(const std::vector<std::vector<int>>& seeds) {
  std::string text = "dataset,model,seed,accuracy\n";
  for (std::size_t g = 0; g < seeds.size(); ++g)
    for (const int seed : seeds[g]) {
      const double noise = 0.001 * ((seed * 5) % 7), level = 0.1 * static_cast<double>(g);
      text += fmt::format("d{},a,{},{}\nd{},b,{},{}\n", g, seed, 0.2 + level + noise, g, seed,
                          0.23 + level + noise + 0.0003 * ((seed * 3) % 5));
    }
  return text;
}

ResultRequest over_groups(const std::string& over = "these tasks", const std::string& scale = "metric") {
  ResultRequest question = accuracy_of();
  question.group = {"dataset"};
  question.over = over;
  question.scale = scale;
  return question;
}

} // namespace

TEST_CASE("one answer over groups compares means over them by seed", "[results][over_tasks]") {
  const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
  const ReportData report = compared(csv_of_groups({all, all, all}), over_groups());
  REQUIRE(report.overall);
  REQUIRE(report.overall->arms.size() == 2);
  CHECK(report.over->common_seeds);
  std::vector<statistics::SeedValues> means(2);
  for (std::size_t arm = 0; arm < 2; ++arm)
    for (std::size_t s = 0; s < all.size(); ++s) {
      means[arm].seeds.push_back(all[s]);
      means[arm].values.push_back(0);
      for (std::size_t g = 0; g < 3; ++g) means[arm].values.back() += *report.arms[2 * g + arm].runs[s].value;
      means[arm].values.back() /= 3;
    }
  const std::vector<std::size_t> references{0, 0};
  const auto wanted = statistics::compare(means, references,
                                          {.higher_is_better = true, .range = 1, .resolution = 0x1p-50});
  check_equal(*report.overall->arms[1].comparison, *wanted[1]);
  CHECK(report.overall->arms[1].values == 8);

  // Groups of other seeds.
  const ReportData own = compared(csv_of_groups({{0, 1, 2}, {3, 4, 5, 6}}), over_groups());
  CHECK_FALSE(own.over->common_seeds);
  const statistics::Comparison& c = *own.overall->arms[1].comparison;
  CHECK(c.seeds.size() == 7);
  CHECK(c.difference.mean ==
        Approx((own.arms[1].comparison->difference.mean + own.arms[3].comparison->difference.mean) / 2));
  CHECK(contains(answer_sentences(own).front(), "7 pairs of runs. "));

  const ReportData alike = compared(csv_of_groups({all, all, all, all, all, all, all}),
                                    over_groups("tasks like these"));
  CHECK(alike.overall->arms[1].comparison->seeds.size() == 7);
  CHECK(contains(answer_sentences(alike).front(), "Over tasks like these 7, b is better: "));
  CHECK(contains(answer_sentences(alike).front(), ", 7 tasks. "));

  // Of a number for each group.
  const ReportData scaled = compared(csv_of_groups({all, all}), over_groups("these tasks", "0.5, 2"));
  CHECK(scaled.overall->arms[1].comparison->difference.mean ==
        Approx((scaled.arms[1].comparison->difference.mean / 0.5 + scaled.arms[3].comparison->difference.mean / 2) /
               2));
  CHECK(contains(answer_sentences(scaled).front(), " higher in the tasks' units "));
}

TEST_CASE("an answer over groups that can't be given is refused", "[results][over_tasks]") {
  const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
  const auto refused = [&](const ResultRequest& question) {
    return refusal([&] { compared(csv_of_groups({all, all}), question); });
  };
  CHECK(contains(refused(over_groups("tasks like these")),
                 "--over: an answer for tasks like these flips signs by task, and takes 6 tasks or more; there are 2"));
  CHECK(contains(refused(over_groups("these", "metric")), "--over \"these\": it must be"));
  CHECK(contains(refused(over_groups("these tasks", "1")), "--scale has 1 number, and there are 2 tasks"));
  CHECK(contains(refused(over_groups("these tasks", "1, -2")), "--scale is \"1, -2\"; it must be"));
  CHECK(contains(refused(over_groups("none", "1, 2")), "--scale does nothing without --over"));
  CHECK(contains(refused(over_groups("these tasks", "chance to best")), "a table does not say what guessing reaches"));
  ResultRequest question = over_groups();
  question.test = "unpaired";
  CHECK(contains(refused(question), "--over: an answer over tasks compares runs of the same seed"));
  question = over_groups("these tasks", "1, 2");
  question.answer = "not worse";
  question.margin = 0.1;
  CHECK(contains(refused(question), "--scale: whether an arm is not worse is asked with a margin"));
  question = accuracy_of();
  question.over = "these tasks";
  CHECK(
      contains(refusal([&] { compared(csv_of_three_arms(), question); }),
               "--over: one answer over tasks takes two tasks or more, and there is one group; --group COLUMN makes"));
}

TEST_CASE("fractions beside per cent are noted at the top", "[results]") {
  const auto warnings = [](const std::string& text, const std::vector<std::string>& bounds = {}) {
    ResultRequest question = accuracy_of();
    question.bounds = bounds;
    return compared(text, question).table->warnings;
  };
  const std::string mixed = "model,seed,accuracy\na,0,0.81\na,1,0.8\nb,0,83.1\nb,1,82.5\n";
  REQUIRE(warnings(mixed).size() == 1);
  CHECK(contains(warnings(mixed)[0], "Two scales: accuracy is at most 1 in 2 of 4 runs (the first: 0.81, line 2)"));
  CHECK(contains(warnings("model,seed,accuracy\na,0,81\na,1,80\nb,0,83.1\nb,1,0.825\n")[0], "in 1 of 4 runs"));
  CHECK(warnings(mixed, {"0,100"}).empty());
  CHECK(warnings(csv_of_three_arms()).empty());
}

TEST_CASE("rows of two runs that have one arm and one seed are refused", "[results]") {
  const auto refused = [](const std::string& more) {
    std::string text = "run_id,model,seed,step,accuracy\n";
    for (int seed = 0; seed < 3; ++seed)
      for (int step = 1; step < 4; ++step) text += fmt::format("a{0},a,{0},{1},0.5\nb{0},b,{0},{1},0.6\n", seed, step);
    return refusal([&] { compared(text + more, accuracy_of()); });
  };
  CHECK(refused("") == "not refused");
  CHECK(
      contains(refused("crashed,b,1,9,0.1\n"),
               "r.csv:20: \"b\", seed 1, has rows of two runs by \"run_id\": \"b1\" (first at line 9) and \"crashed\". "
               "Leave out the rows of one"));
  // Numbers of rows are no names of runs.
  std::string text = "id,model,seed,step,accuracy\n";
  for (int row = 0; row < 24; ++row)
    text += fmt::format("{},{},{},{},0.5{}\n", row, row % 2 ? "a" : "b", row / 8, row % 8 / 2, row % 7);
  CHECK(refusal([&] { compared(text, accuracy_of()); }) == "not refused");
}

TEST_CASE("a run that is empty at the end, where most runs have a value, has failed, as one with NaN has",
          "[results]") {
  std::string logs = "model,seed,step,loss,accuracy\n", chart = "Step";
  for (const char* arm : {"a", "b"})
    for (int seed = 0; seed < 5; ++seed) {
      chart += fmt::format(",{}-seed{} - accuracy", arm, seed);
      for (int step = 1; step <= 4; ++step) {
        const bool lost = *arm == 'b' && seed == 2 && step >= 3;
        logs += fmt::format("{},{},{},{},{}\n", arm, seed, step, lost ? "" : "1",
                            lost ? "" : fmt::format("0.5{}", seed));
      }
      logs += fmt::format("{},{},5,1,\n", arm, seed); // a step of training only
    }
  chart += "\n";
  for (int step = 1; step <= 4; ++step) {
    chart += fmt::format("{}", step);
    for (int run = 0; run < 10; ++run) chart += run == 7 && step >= 3 ? "," : fmt::format(",0.5{}", run % 5);
    chart += "\n";
  }
  for (const std::string& text : {logs, chart}) {
    CAPTURE(text);
    const ReportData report = compared(text, accuracy_of());
    CHECK(report.arms[1].values == 4);
    const ReportRun& run = report.arms[1].runs[2];
    CHECK(run.state == RunState::failed);
    CHECK(run.problem == "accuracy is empty at step 3, where most runs have a value: no result");
    CHECK(report.count(RunState::failed) == 1);
  }
}

TEST_CASE("rows that summarise others are no runs", "[results]") {
  std::string text = "model,fold,accuracy\n";
  for (const char* arm : {"a", "mean"}) // an arm may be called so
    for (int fold = 0; fold < 6; ++fold) text += fmt::format("{},{},0.8{}\n", arm, fold, fold);
  ResultRequest question = accuracy_of();
  question.pair = {"fold"};
  CHECK(compared(text, question).arms[1].values == 6);
  for (const std::string word : {"mean", "Std", "average", "total", "SEM", "count"})
    CHECK(contains(refusal([&] { compared(text + "a," + word + ",0.81\n", question); }),
                   "r.csv:14: the pair (\"fold\") is \"" + word + "\": a row that summarises others is no run"));
}

TEST_CASE("arms that may be one, spelled in two ways, are noted at the top", "[results]") {
  const auto warnings = [](const std::string& a, const std::string& b) {
    std::string text = "model,seed,accuracy\n";
    for (int seed = 0; seed < 3; ++seed) text += fmt::format("a,{0},0.5\n{1},{0},0.5{0}\n{2},{0},0.6\n", seed, a, b);
    return compared(text, accuracy_of()).table->warnings;
  };
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{{"8", "8.0"},
                                                                             {"0.01", "1e-2"},
                                                                             {"8", "+8"},
                                                                             {"caf\u00e9", "cafe\u0301"},
                                                                             {"big net", "big\u00a0net"},
                                                                             {"big net", "big  net"}}) {
    CAPTURE(a, b);
    REQUIRE(warnings(a, b).size() == 1);
    CHECK(contains(warnings(a, b)[0], "Two spellings: \"" + a + "\" and \"" + b + "\" are different arms here"));
  }
  CHECK(warnings("8", "80").empty());
  CHECK(warnings("Net", "net").empty());
}

TEST_CASE("a table with a column for each arm gets the line that turns it", "[results]") {
  const std::string text = "seed,base,wide\n1,0.8,0.9\n2,0.8,0.7\n";
  CHECK(contains(refusal([&] { compared(text, accuracy_of()); }),
                 "no column is called \"accuracy\"; if each of the columns \"base\", \"wide\" is an arm, write a row "
                 "for each run instead, in pandas: table.melt(\"seed\", var_name=\"arm\", value_name=\"accuracy\")"));
  for (const std::vector<std::string>& metrics : {std::vector<std::string>{}, {"base"}}) { // none, or one of the arms
    ResultRequest question = accuracy_of();
    question.metrics = metrics;
    CHECK(contains(refusal([&] { compared(text, question); }), "table.melt(\"seed\", var_name=\"arm\""));
  }
  CHECK(contains(refusal([&] { compared("seed,model,acuracy\n1,a,0.9\n", accuracy_of()); }), "did you mean 'acuracy'"));
}

TEST_CASE("seeds are integers of 64 bits, or texts", "[results]") {
  const auto seeds_of = [](const std::vector<std::string>& seeds) {
    std::string text = "model,seed,accuracy\n";
    for (std::size_t i = 0; i < seeds.size(); ++i) text += fmt::format("a,{0},0.5\nb,{0},0.6{1}\n", seeds[i], i);
    const ReportData report = compared(text, accuracy_of());
    CHECK(report.arms[1].comparison->seeds.size() == seeds.size());
    std::set<std::string> out;
    for (const ReportRun& run : report.arms[1].runs) out.insert(run.seed_text());
    return out;
  };
  using Texts = std::set<std::string>;
  CHECK(seeds_of({"9223372036854775807", "9223372036854775806", "9007199254740993", "-3"}) ==
        Texts{"9223372036854775807", "9223372036854775806", "9007199254740993", "-3"});
  CHECK(seeds_of({"s1", "3", "1.5"}) == Texts{"s1", "3", "1.5"});
  CHECK(seeds_of({"18446744073709551615", "18446744073709551614"}) == // beyond 64 bits with a sign: texts
        Texts{"18446744073709551615", "18446744073709551614"});
}

TEST_CASE("random tables have the statistics of their numbers", "[results]") {
  std::mt19937 draw(7);
  std::normal_distribution<double> noise;
  for (int trial = 0; trial < 12; ++trial) {
    const bool unpaired = trial % 3 == 2, higher = trial % 2 == 0;
    const std::size_t arms = 2 + static_cast<std::size_t>(trial) % 3;
    std::vector<statistics::SeedValues> values(arms);
    std::vector<std::string> rows;
    for (std::size_t a = 0; a < arms; ++a)
      for (std::int64_t seed = 0; seed < 9; ++seed) {
        if (a == 1 && seed == 4 && trial % 4 == 1) continue; // a missing row
        const double value = 3 + 0.4 * static_cast<double>(a) + noise(draw);
        const bool failed = a == 1 && seed == 2 && trial % 4 == 2;
        if (!failed) {
          values[a].seeds.push_back(10 * seed);
          values[a].values.push_back(value);
        }
        rows.push_back(fmt::format("arm {},{},{}\n", a, 10 * seed, failed ? "NaN" : fmt::format("{}", value)));
      }
    std::shuffle(rows.begin(), rows.end(), draw); // the order of rows says nothing
    std::string text = "model,seed,x\n";
    for (const std::string& row : rows) text += row;
    ResultRequest question;
    question.metrics = {"x"};
    question.reference = "arm 0";
    question.direction = {higher ? "higher" : "lower"};
    question.margin = 0.5;
    question.test = unpaired ? "unpaired" : "paired";
    const ReportData report = compared(text, question);
    const auto wanted = statistics::compare(values, std::vector<std::size_t>(arms, 0),
                                            {.test = unpaired ? statistics::Test::unpaired : statistics::Test::paired,
                                             .higher_is_better = higher,
                                             .margin = 0.5,
                                             .resolution = 0x1p-50});
    REQUIRE(report.arms.size() == arms);
    CHECK(report.arms[0].label == "arm 0");
    for (std::size_t a = 1; a < arms; ++a) {
      CAPTURE(trial, a);
      const auto& found = arm_called(report, fmt::format("arm {}", a)).comparison;
      REQUIRE(found.has_value());
      // arms after the reference are in the order of their rows, which changes p of none of them
      check_equal(*found, *wanted[a]);
    }
  }
}

TEST_CASE("missing rows are left out and failed runs are failures, and both are said", "[results]") {
  std::string text = csv_of_three_arms();
  text.erase(text.find("b,3,"), text.find("c,3,") - text.find("b,3,"));
  text.replace(text.find("c,5,"), text.find("a,6,") - text.find("c,5,"), "c,5,inf,1\n");
  text.replace(text.find("c,6,"), text.find("a,7,") - text.find("c,6,"), "c,6,,1\n");
  const ReportData report = compared(text, accuracy_of());
  const ReportArm &b = arm_called(report, "b"), &c = arm_called(report, "c");
  REQUIRE(b.runs.size() == 8);
  CHECK(b.runs[3].status() == "missing");
  CHECK(b.values == 7);
  CHECK(c.values == 6);
  CHECK(c.runs[5].state == RunState::failed);
  CHECK(c.runs[5].problem == "accuracy was inf: no result");
  CHECK(c.runs[6].problem == "accuracy is empty: no result");
  CHECK(c.p_failed_worst.has_value());
  CHECK(progress_sentence(report) == "21 of 24 runs finished, 2 failed, 1 missing");
  CHECK(contains(answer_sentence(report, b, TableDigits(report)), "1 of 8 seeds is excluded"));
  CHECK(contains(answer_sentence(report, c, TableDigits(report)), "2 of 8 seeds are excluded"));
  CHECK(contains(render_terminal(report, Style{}), "missing b, seed 3 (no row): r.csv has no result of it"));
  CHECK(contains(provenance_warnings(report).at(1), "Missing: r.csv "));
  CHECK(contains(provenance_warnings(report).at(1), "1 of 24 runs"));
}

TEST_CASE("every format says that the runs were made elsewhere and no plan was frozen", "[results]") {
  const ReportData report = compared(csv_of_three_arms(), accuracy_of());
  for (const std::string& text :
       {render_terminal(report, Style{}), render_html(report), render_markdown(report), render_latex(report)}) {
    CHECK(contains(text, "Made elsewhere"));
    CHECK(contains(text, "No plan was frozen"));
  }
  CHECK(contains(render_csv(report), "elsewhere, read from r.csv; no plan was frozen"));
  CHECK_FALSE(contains(render_markdown(report), "configuration"));
  CHECK_FALSE(contains(render_terminal(report, Style{}), "parameters"));
  CHECK_FALSE(contains(render_latex(report), "parameters"));
}

TEST_CASE("several metrics are one family, each with its own direction, bounds and unit", "[results]") {
  ResultRequest question = accuracy_of();
  question.metrics = {"accuracy", "loss"};
  question.bounds = {"loss=0,20"};
  question.unit = {"loss=nats"};
  const ReportData report = compared(csv_of_three_arms(), question);
  CHECK(report.metric.higher_is_better());
  CHECK(report.metric.high == 1);
  REQUIRE(report.also.size() == 1);
  CHECK(report.also[0].direction == Direction::lower);
  CHECK(report.also[0].high == 20);
  CHECK(report.also[0].unit == "nats");
  CHECK(arm_called(report, "b").comparison->family == 4);
  question.direction = {"loss=higher", "none"};
  const ReportData other = compared(csv_of_three_arms(), question);
  CHECK(other.metric.direction == Direction::none);
  CHECK(other.also[0].direction == Direction::higher);
}

TEST_CASE("the order of a table's rows does not change which group interactions compare with", "[results]") {
  std::vector<std::string> rows;
  for (const char* data : {"mnist", "cifar"})
    for (const char* model : {"base", "x"})
      for (int seed = 0; seed < 7; ++seed)
        rows.push_back(fmt::format("{},{},{},{}", data, model, seed,
                                   0.5 + 0.01 * (seed % 5) + (*model == 'x' ? 0.1 + 0.001 * (seed % 3) : 0)));
  ResultRequest question = accuracy_of("base");
  question.group = {"data"};
  const auto ask = [&] {
    return compared(fmt::format("data,model,seed,accuracy\n{}\n", fmt::join(rows, "\n")), question);
  };
  const ReportData one = ask();
  std::ranges::reverse(rows);
  const ReportData other = ask();
  for (const ReportData* report : {&one, &other}) {
    CHECK(report->arms[0].label == "data = cifar: base");
    REQUIRE(report->interactions.size() == 1);
    CHECK(report->interactions[0].without == "with data = cifar");
    CHECK(report->interactions[0].comparison.difference.mean == one.interactions[0].comparison.difference.mean);
    CHECK(report->interactions[0].comparison.family == 3); // both arms and the interaction
  }
  for (const char* first : {"mnist", "data = mnist"}) {
    question.first = first;
    const ReportData report = ask();
    CHECK(report.arms[0].label == "data = mnist: base");
    CHECK(report.interactions[0].without == "with data = mnist");
  }
  question.first = "mnis";
  CHECK(contains(refusal(ask),
                 "r.csv: --first \"mnis\": no group is called \"mnis\"; did you mean 'mnist'?; the groups are "
                 "\"cifar\", \"mnist\""));
  question.first = "mnist";
  question.group.clear();
  rows.resize(14);
  CHECK(contains(refusal(ask), "--first \"mnist\": there are no groups; --group COLUMN makes them"));
}

TEST_CASE("groups have references of their own, and seeds of their own", "[results]") {
  std::string text = "data,model,seed,accuracy\n";
  const auto add = [&](const std::string& data, int first) {
    for (int seed = first; seed < first + 7; ++seed)
      for (const char* model : {"x", "base"})
        text += fmt::format("{},{},{},{}\n", data, model, seed,
                            0.5 + 0.01 * (seed % 5) + (*model == 'x' ? 0.1 : 0) +
                                0.001 * (seed % 3) * (*model == 'x' ? 1 : 0));
  };
  add("100", 0);
  add("20", 10);
  ResultRequest question = accuracy_of("base");
  question.group = {"data"};
  const ReportData report = compared(text, question);
  REQUIRE(report.arms.size() == 4);
  CHECK(report.arms[0].label == "data = 20: base"); // numbers are sorted
  CHECK(report.arms[1].name == "x");
  CHECK(report.arms[1].reference == 0);
  CHECK(report.arms[3].reference == 2);
  CHECK(report.arms[3].runs.size() == 7);
  CHECK(report.no_row() == 0);
  CHECK(report.arms[1].comparison->difference.pairs == 7);
  CHECK(report.interactions.empty()); // no common seeds
  text.clear();
  text = "data,model,seed,accuracy\n";
  add("20", 0);
  add("100", 0);
  CHECK(compared(text, question).interactions.size() == 1);
  text += "7,x,0,0.5\n";
  CHECK(refusal([&] { compared(text, question); }) ==
        "r.csv: there is no run of the reference, \"base\", at data = 7; its arms are \"x\"");
}

TEST_CASE("pairs of several columns, and seeds that are texts", "[results]") {
  std::string text = "model,seed,fold,accuracy\n";
  for (int seed = 0; seed < 3; ++seed)
    for (int fold = 0; fold < 4; ++fold)
      for (const char* model : {"a", "b"})
        text += fmt::format("{},{},f{},{}\n", model, seed, fold,
                            0.5 + 0.01 * seed + 0.003 * fold + (*model == 'b' ? 0.1 : 0));
  CHECK(contains(refusal([&] { compared(text, accuracy_of()); }),
                 "r.csv:4: \"a\" has a row for the seed 0 already, at line 2; give each run a seed of its own"));
  ResultRequest question = accuracy_of();
  question.pair = {"seed", "fold"};
  const ReportData report = compared(text, question);
  CHECK(report.seeds.size() == 12);
  CHECK(report.arms[1].runs[5].seed_text() == "1/f1");
  CHECK(contains(render_terminal(report, Style{}), "paired by seed and fold"));
  question.pair.clear();
  question.seed = "fold";
  CHECK(contains(refusal([&] { compared(text, question); }), "\"a\" has a row for the seed f0 already"));
}

TEST_CASE("with steps, the last value counts, and curves are drawn", "[results]") {
  std::string text = "model,seed,step,accuracy,other\n";
  for (int seed = 0; seed < 6; ++seed)
    for (const char* model : {"a", "b"})
      for (const int step : {20, 10, 30}) {
        if (step == 30 && seed == 5 && *model == 'b') continue;
        const bool is_empty = step == 10 && seed == 4; // no evaluation
        text += fmt::format("{},{},{},{},\n", model, seed, step,
                            is_empty ? "" : fmt::format("{}", 0.01 * step + 0.01 * seed));
      }
  const ReportData report = compared(text, accuracy_of());
  CHECK(report.arms[0].runs[2].value == 0.01 * 30 + 0.01 * 2);
  REQUIRE(report.arms[0].runs[2].curve.size() == 3);
  CHECK(report.arms[0].runs[2].curve[0].step == 10);
  CHECK(report.arms[1].runs[4].curve.size() == 2);
  CHECK(report.arms[1].runs[5].value == 0.01 * 20 + 0.01 * 5);
  CHECK(contains(report.table->warnings.at(0), "1 of 12 runs end before step 30"));
  text += "b,5,20,0.3,\n";
  CHECK(contains(refusal([&] { compared(text, accuracy_of()); }), "has a value of accuracy at step 20 already"));
  ResultRequest question = accuracy_of();
  question.step = "none";
  CHECK(contains(refusal([&] { compared(text, question); }), "has a row for the seed 0 already"));
}

TEST_CASE("the state is that of the last step, and different ends of further metrics are said", "[results]") {
  std::string text = "model,seed,step,accuracy,loss,state\n";
  for (int seed = 0; seed < 6; ++seed)
    for (const char* arm : {"a", "b"}) {
      text += fmt::format("{},{},200,0.{},{},finished\n", arm, seed, 50 + seed, *arm == 'a' ? "1.5" : "");
      text += fmt::format("{},{},100,0.4,1.6,running\n", arm, seed);
    }
  ResultRequest question = accuracy_of();
  question.metrics.emplace_back("loss");
  const ReportData report = compared(text, question);
  for (const ReportArm& arm : report.arms)
    for (const ReportRun& run : arm.runs) CHECK(run.state == RunState::finished);
  REQUIRE(report.table->warnings.size() == 1);
  CHECK(contains(report.table->warnings.front(), "Different ends of loss: 6 of 12 runs have no value at step 200"));
}

TEST_CASE("pairs whose texts have slashes stay apart", "[results]") {
  std::string text = "model,data,fold,accuracy\n";
  for (int k = 0; k < 6; ++k)
    for (const char* arm : {"a", "b"}) {
      text += fmt::format("{},d{}/0,c,0.5{}\n", arm, k, k);
      text += fmt::format("{},d{},0/c,0.6{}\n", arm, k, k);
    }
  ResultRequest question = accuracy_of();
  question.pair = {"data", "fold"};
  CHECK(compared(text, question).arms.front().runs.size() == 12);
}

TEST_CASE("the wide form of exported charts", "[results]") {
  std::string text = "\"Step\"";
  for (const char* arm : {"base", "new"})
    for (int seed = 1; seed <= 6; ++seed)
      for (const char* end : {"", "__MIN", "__MAX"}) text += fmt::format(",\"{}-seed{} - val/acc{}\"", arm, seed, end);
  text += "\n";
  for (const int step : {0, 10}) {
    text += fmt::format("\"{}\"", step);
    for (const double base : {0.5, 0.6})
      for (int seed = 1; seed <= 6; ++seed) {
        const double value = base + 0.01 * seed + 0.01 * step + (base > 0.55 ? 0.001 * (seed % 2) : 0);
        text += fmt::format(",\"{0}\",\"{0}\",\"{0}\"", value);
      }
    text += "\n";
  }
  ResultRequest question;
  question.metrics = {"val/acc"};
  question.reference = "base";
  const ReportData report = compared(text, question);
  REQUIRE(report.arms.size() == 2);
  CHECK(report.arms[1].label == "new");
  CHECK(report.arms[1].runs.size() == 6);
  CHECK(report.arms[1].runs[0].seed == 1);
  CHECK(report.arms[1].runs[0].curve.size() == 2);
  CHECK(report.arms[1].runs[0].id == "new-seed1");
  CHECK(report.arms[1].comparison->answer == statistics::Answer::differs);
  question.arm = {"x"};
  CHECK(contains(refusal([&] { compared(text, question); }), "--arm does nothing here: the table is in the wide form"));
  question.arm.clear();
  question.run_name = "{arm}/{seed}";
  CHECK(contains(refusal([&] { compared(text, question); }), "the run \"base-seed1\" does not have the form"));
  question.run_name = "{arm}{seed}";
  CHECK(contains(refusal([&] { compared(text, question); }), "between {arm} and {seed} must be a text"));
  question.run_name = "{arm}";
  CHECK(contains(refusal([&] { compared(text, question); }), "it must have {arm} and {seed}, each once"));

  question.run_name.clear();
  CHECK(contains(refusal([&] {
                   compared("Step,swift-oath-3 - val/acc,calm-sea-4 - val/acc,dry-oak-5 - val/acc\n1,1,1,1\n",
                            question);
                 }),
                 "each of the 3 runs is an arm of its own"));
  const std::string colons = "Step,base_1: val/acc,base_2: val/acc,new_1: val/acc,new_2: val/acc\n1,0.1,0.2,0.3,0.4\n";
  CHECK(compared(colons, question).arms[1].runs.size() == 2);
}

TEST_CASE("states of trackers, and Heed's own runs.csv", "[results]") {
  std::string text = "Name,State,model,seed,accuracy,Runtime\n";
  for (int seed = 0; seed < 7; ++seed)
    for (const char* model : {"a", "b"})
      text += fmt::format("r{},{},{},{},{},{}\n", seed,
                          seed == 3                    ? "crashed"
                          : seed == 4 && *model == 'a' ? "running"
                                                       : "finished",
                          model, seed, 0.5 + 0.01 * seed, 60 + seed);
  const ReportData report = compared(text, accuracy_of());
  CHECK(report.arms[0].runs[3].state == RunState::failed);
  CHECK(report.arms[0].runs[3].problem == "its state is crashed");
  CHECK(report.arms[0].runs[4].state == RunState::running);
  CHECK(report.arms[0].runs[0].id == "r0");
  CHECK(report.arms[0].seconds == Approx((60 + 61 + 62 + 65 + 66) / 5.0));
  ResultRequest question = accuracy_of();
  question.state = "none";
  CHECK(compared(text, question).count(RunState::finished) == 14);
  text += "x,resting,a,7,0.5,1\n";
  CHECK(contains(refusal([&] { compared(text, accuracy_of()); }), "r.csv:16: the state is \"resting\"; known are"));

  std::string own = "arm,seed,run,state,val_loss,seconds,folder,problem\r\n";
  for (int seed = 0; seed < 6; ++seed) {
    own += fmt::format("reference (x = 1),{0},r{0},finished,{1},2,runs/r{0},\r\n", seed, 1.5 + 0.1 * seed);
    own += fmt::format("x = 2,{0},q{0},{1},{2},2,runs/q{0},{3}\r\n", seed, seed == 0 ? "failed" : "finished",
                       seed == 0 ? "" : "1.25", seed == 0 ? "NaN loss at step 17" : "");
  }
  ResultRequest of_loss;
  of_loss.metrics = {"val_loss"};
  const ReportData loss = compared(own, of_loss);
  CHECK(loss.arms[0].label == "reference (x = 1)");
  CHECK(loss.metric.unit == "nats");
  CHECK(loss.arms[1].runs[0].problem == "NaN loss at step 17");
}

TEST_CASE("runs without seeds are compared without pairs", "[results]") {
  std::string text = "model,accuracy\n";
  for (int i = 0; i < 8; ++i) text += fmt::format("a,{}\nb,{}\n", 0.5 + 0.01 * i, 0.7 + 0.01 * ((3 * i) % 8));
  CHECK(contains(refusal([&] { compared(text, accuracy_of()); }),
                 "or compare runs without pairs with --test unpaired"));
  ResultRequest question = accuracy_of();
  question.test = "unpaired";
  const ReportData report = compared(text, question);
  CHECK(report.arms[1].comparison->answer == statistics::Answer::differs);
  CHECK(report.arms[1].comparison->reference_runs == 8);
  CHECK(report.seeds.size() == 8);
  CHECK(report.arms[1].runs[0].seed_text() == "line 3");
  // equal rows of unlike runs are no equal pairs
  std::string same = "model,accuracy\n";
  for (int i = 0; i < 8; ++i) same += fmt::format("a,0.{0}\nb,0.{0}\n", i);
  CHECK_FALSE(compared(same, question).arms[1].comparison->equal);
  std::string stepped = "model,step,accuracy\na,1,0.1\na,2,0.2\nb,1,0.1\nb,2,0.2\n";
  CHECK(contains(refusal([&] { compared(stepped, question); }), "nobody knows which rows are of one run"));
}

TEST_CASE("parameters and time come from named columns", "[results]") {
  std::string text = "model,seed,accuracy,n,s\n";
  for (int seed = 0; seed < 6; ++seed) text += fmt::format("a,{0},0.5{0},1000,{0}\nb,{0},0.6{0},1200,10\n", seed);
  ResultRequest question = accuracy_of();
  question.parameters = "n";
  question.time = "s";
  const ReportData report = compared(text, question);
  CHECK(report.arms[0].cost->parameters == 1000);
  CHECK(report.arms[0].seconds == 2.5);
  CHECK(contains(render_terminal(report, Style{}), "1,200"));
  CHECK_FALSE(contains(render_html(report), "\"flops_per_step\":0"));
  CHECK(contains(refusal([&] { compared(text + "a,6,0.5,1001,1\n", question); }),
                 "r.csv:14: \"a\" has 1001 parameters in this run, and 1000 at line 2"));
  CHECK(contains(refusal([&] { compared(text + "a,6,0.5,1e3x,1\n", question); }),
                 "must be a whole number, at least 1"));
  CHECK(contains(refusal([&] { compared(text + "a,6,0.5,1000,-1\n", question); }), "it must be seconds, at least 0"));
}

TEST_CASE("what can't be known or is wrong is refused with the place, the allowed and the nearest", "[results]") {
  const std::string text = csv_of_three_arms();
  const auto error = [&](const auto& change, const std::string& of) {
    ResultRequest question = accuracy_of();
    change(question);
    return refusal([&] { compared(of, question); });
  };
  const auto nothing = [](ResultRequest&) {};
  CHECK(contains(error([](auto& q) { q.metrics.clear(); }, text), "no metric is named; name its column with --metric"));
  CHECK(contains(error([](auto& q) { q.metrics = {"acuracy"}; }, text),
                 "no column is called \"acuracy\"; did you mean 'accuracy'?"));
  CHECK(contains(error(
                     [](auto& q) {
                       q.metrics = {"accuracy", "accuracy"};
                     },
                     text),
                 "--metric names \"accuracy\" twice"));
  CHECK(contains(error([](auto& q) { q.reference = "d"; }, text), "no arm is called \"d\""));
  CHECK(contains(error([](auto& q) { q.reference = ""; }, text),
                 "name the arm that the others are compared with: --reference ARM; the arms are \"a\", \"b\", \"c\""));
  CHECK(contains(error([](auto& q) { q.arm = {"seed", "seed"}; }, text), "--arm names the column \"seed\" twice"));
  CHECK(contains(error([](auto& q) { q.group = {"model"}; }, text),
                 "the column \"model\" is used as the arm and as the group"));
  CHECK(contains(error(
                     [](auto& q) {
                       q.seed = "seed";
                       q.pair = {"seed"};
                     },
                     text),
                 "leave one of the two out"));
  CHECK(contains(error([](auto& q) { q.margin = 0; }, text), "--margin is 0; it must be a number above 0"));
  CHECK(contains(error([](auto& q) { q.margin = std::numeric_limits<double>::quiet_NaN(); }, text), "--margin is nan"));
  CHECK(contains(error([](auto& q) { q.learned = std::numeric_limits<double>::infinity(); }, text),
                 "--learned is inf"));
  CHECK(contains(error([](auto& q) { q.test = "pared"; }, text), "did you mean 'paired'?"));
  CHECK(contains(error([](auto& q) { q.precision = "float16"; }, text), "--precision \"float16\": it must be"));
  CHECK(contains(error([](auto& q) { q.direction = {"hihger"}; }, text), "did you mean 'higher'?"));
  CHECK(contains(error([](auto& q) { q.direction = {"los=lower"}; }, text),
                 "\"los\" is none of the metrics; they are \"accuracy\""));
  CHECK(contains(error([](auto& q) { q.direction = {"lower", "higher"}; }, text), "--direction is given twice"));
  CHECK(contains(error([](auto& q) { q.bounds = {"1,0"}; }, text),
                 "it must be the lowest and the highest possible value"));
  CHECK(contains(error([](auto& q) { q.bounds = {"0"}; }, text), "it must be the lowest and the highest"));
  CHECK(contains(error([](auto& q) { q.bounds = {"0,0.55"}; }, text),
                 "r.csv:3: \"accuracy\" is 0.56, beyond its bounds 0 and 0.55 (--bounds)"));
  CHECK(contains(error([](auto& q) { q.run_name = "{arm}-{seed}"; }, text),
                 "--run-name is for tables in the wide form"));
  CHECK(contains(error([](auto& q) { q.step = "accuracy"; }, text), "is used as a metric and as the step"));
  CHECK(contains(error([](auto& q) { q.step = "loss"; }, text),
                 "r.csv:2: the step (\"loss\") is \"1.5\", and must be a whole number"));
  CHECK(contains(error(
                     [](auto& q) {
                       q.options_are_arguments = true;
                       q.metrics = {"x"};
                     },
                     text),
                 "r.csv: `metric`: no column"));
  CHECK(contains(error(
                     [](auto& q) {
                       q.options_are_arguments = true;
                       q.run_name = "{arm}-{seed}";
                     },
                     text),
                 "`run_name` is for tables in the wide form"));
  CHECK(contains(error(nothing, text + "a,8,much,1\n"), "r.csv:26: \"accuracy\" is \"much\", and must be a number"));
  CHECK(contains(error(nothing, text + "a,8,\"0,5\",1\n"), "write 0.5 and 1000, not 0,5 and 1,000"));
  CHECK(contains(error(nothing, text + "a,8,50%,1\n"), "write per cent without the sign"));
  CHECK(contains(error(nothing, text + ",8,0.5,1\n"), "r.csv:26: the arm (\"model\") is empty"));
  CHECK(contains(error(nothing, text + "a,,0.5,1\n"), "r.csv:26: the seed (\"seed\") is empty"));
  CHECK(contains(error(nothing, text + "a,7.0,0.5,1\n"),
                 "r.csv:26: \"a\" has a row for the seed 7 already, at line 23"));
  CHECK(contains(error(nothing, text + std::string(1000, 'x') + ",8,0.5,1\n"), "at most 300 are allowed"));
  CHECK(contains(error(nothing, "model,seed,accuracy\na,0,1\na,1,1\n"),
                 "there is one arm only, \"a\"; a comparison needs two"));
  CHECK(contains(error(nothing, "x,seed,accuracy\na,0,1\nb,1,1\n"), "no column is recognised as the arm"));
  CHECK(contains(error([](auto& q) { q.metrics = {"steps_to(acc, 1)"}; },
                       "model,seed,\"steps_to(acc, 1)\"\na,0,1\nb,0,1\n"),
                 "say it with --bounds 0,STEPS"));
  CHECK(contains(
      error([](auto& q) { q.metrics = {"zeal"}; }, "model,seed,zeal\na,0,1\nb,0,1\n"),
      "the name \"zeal\" does not say whether higher or lower values are better; say it with --direction zeal=higher"));
}

TEST_CASE("names of arms are shown as they are, and do no harm", "[results]") {
  std::string text = "model,seed,accuracy\n";
  const std::vector<std::string> names{"Größe <b>\"ß\"</b>", "\"x\x1b[31m\ny\"\"</script>\"", "日本"};
  for (int seed = 0; seed < 6; ++seed)
    for (std::size_t a = 0; a < names.size(); ++a) {
      const std::string cell = a == 0 ? "\"Größe <b>\"\"ß\"\"</b>\"" : names[a];
      text += fmt::format("{},{},{}\n", cell, seed, 0.5 + 0.01 * static_cast<double>(a) + 0.02 * (seed % 4));
    }
  const ReportData report = compared(text, accuracy_of("日本"));
  CHECK(report.arms[0].label == "日本");
  CHECK(report.arms[1].label == names[0]);
  CHECK(report.arms[2].label == "x\\x1b[31m y\"</script>");
  const std::string html = render_html(report);
  CHECK_FALSE(contains(html, "y\\\"</script>"));
  CHECK_FALSE(contains(html, "<b>"));
  CHECK(contains(render_terminal(report, Style{}), "日本"));
}

namespace {

/// A table with a row for each of `examples` examples of six runs of two arms, whose order differs by run.
std::string csv_of_examples(int examples) {
  std::string text = "model,seed,item,accuracy\n";
  for (const char* model : {"a", "b"})
    for (int seed = 0; seed < 6; ++seed)
      for (int i = 0; i < examples; ++i) {
        const int item = (i * 6 + seed) % examples;
        const double value = 0.5 + 0.01 * ((item * 5) % 11) + 0.002 * ((seed * item) % 7) +
                             (*model == 'b' ? 0.03 + 0.01 * (item % 3) + 0.004 * (seed % 4) : 0);
        text += fmt::format("{},{},q{},{}\n", model, seed, item, value);
      }
  return text;
}

ResultRequest by_item() {
  ResultRequest question = accuracy_of();
  question.examples = "item";
  return question;
}

} // namespace

TEST_CASE("rows of examples are compared over seeds and over examples", "[results]") {
  const ReportData report = compared(csv_of_examples(35), by_item());
  std::vector<std::vector<double>> a, b;
  std::string of_runs = "model,seed,accuracy\n";
  for (const ReportArm& arm : report.arms)
    for (const ReportRun& run : arm.runs) {
      (arm.label == "a" ? a : b).push_back(run.examples);
      double mean = 0;
      for (int item = 0; item < 35; ++item)
        mean += (0.5 + 0.01 * ((item * 5) % 11) + 0.002 * ((static_cast<int>(run.seed) * item) % 7) +
                 (arm.label == "b" ? 0.03 + 0.01 * (item % 3) + 0.004 * (static_cast<int>(run.seed) % 4) : 0)) /
                35;
      CHECK(*run.value == Approx(mean).epsilon(1e-12));
      of_runs += fmt::format("{},{},{}\n", arm.label, run.seed, *run.value);
    }
  // As for a table with the means of runs, and the interval over examples beside it.
  check_equal(*arm_called(report, "b").comparison, *arm_called(compared(of_runs, accuracy_of()), "b").comparison);
  const auto wanted = statistics::over_examples(b, a);
  const auto& found = arm_called(report, "b").over_examples;
  REQUIRE(found);
  CHECK(found->examples == 35);
  CHECK(found->interval.low == wanted->interval.low);
  CHECK(found->interval.high == wanted->interval.high);
  CHECK(contains(report.table->columns, "examples by \"item\""));
}

TEST_CASE("rows of examples are refused with what is wrong", "[results]") {
  const std::string good = csv_of_examples(35);
  const auto refused = [](const std::string& text, const ResultRequest& question) {
    return refusal([&] { compared(text, question); });
  };
  CHECK(contains(refused(good, accuracy_of()), "--examples"));
  CHECK(contains(refused(csv_of_examples(29), by_item()), "--examples needs 30 examples or more, and there are 29"));
  CHECK(contains(refused(good + "b,5,q3,0.5\n", by_item()), "has a value of accuracy for the example \"q3\" already"));
  std::string gap = good;
  const std::size_t line = gap.find("\nb,2,q3,");
  gap.erase(line, gap.find('\n', line + 1) - line);
  CHECK(contains(refused(gap, by_item()), "\"b\", seed 2, has no accuracy of the example \"q3\""));
  std::string stepped = good;
  stepped.replace(stepped.find("item"), 4, "step");
  ResultRequest question = by_item();
  question.examples = "step";
  CHECK(contains(refused(stepped, question), "read as the step"));
  question.step = "none";
  CHECK(refused(stepped, question) == "not refused");
}
