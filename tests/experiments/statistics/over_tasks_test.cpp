// Tests the values over tasks by hand, and the interquartile mean, the probability of improvement and performance
// profiles against rliable's: generate_over_tasks.py wrote tests/fixtures/over_tasks.json.
#include "experiments/statistics/over_tasks.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "tests/catch.hpp"
#include "tests/fixtures/fixture.hpp"

#include <boost/json.hpp>

#include <cmath>
#include <vector>

namespace heed::statistics {
namespace {

namespace json = boost::json;

TaskRuns runs_of(const json::value& value) { return json::value_to<TaskRuns>(value); }

TaskRuns drawn(std::size_t tasks, std::size_t runs, std::uint64_t seed, double moved = 0) {
  RandomSource random({seed, Stream::test, 0});
  TaskRuns out(tasks);
  for (std::vector<double>& task : out)
    for (std::size_t i = 0; i < runs; ++i) task.push_back(random.normal() + moved);
  return out;
}

SeedValues values(std::vector<std::int64_t> seeds, std::vector<double> of) { return {std::move(seeds), std::move(of)}; }

} // namespace

TEST_CASE("Statistics over tasks equal rliable's", "[statistics][over_tasks]") {
  const json::object cases = json::parse(fixture_text("over_tasks")).as_object();
  REQUIRE(cases.size() == 5);
  std::size_t with_mean = 0;
  for (const auto& [name, value] : cases) {
    INFO(name);
    const json::object& of = value.as_object();
    const TaskRuns arm = runs_of(of.at("arm")), reference = runs_of(of.at("reference"));
    const Estimate better = improvement_over_tasks(arm, reference, true);
    CHECK(std::abs(better.value - of.at("improvement").as_double()) < 1e-12);
    // Lower values are better: the same pairs, of the other sign.
    CHECK(std::abs(improvement_over_tasks(arm, reference, false).value - 1 + better.value) < 1e-12);
    const auto thresholds = json::value_to<std::vector<double>>(of.at("thresholds")),
               profile = json::value_to<std::vector<double>>(of.at("profile"));
    const std::vector<Estimate> found = performance_profile(arm, thresholds, true);
    for (std::size_t t = 0; t < thresholds.size(); ++t) {
      CHECK(std::abs(found[t].value - profile[t]) < 1e-12);
      CHECK(found[t].interval->low <= found[t].value);
      CHECK(found[t].interval->high >= found[t].value);
    }
    if (const json::value* mean = of.if_contains("interquartile_mean")) {
      ++with_mean;
      CHECK(std::abs(interquartile_over_tasks(arm).value - mean->as_double()) < 1e-12);
    }
    const auto near = [&](const Estimate& estimate, const char* key) {
      const json::value* interval = of.if_contains(key);
      if (!interval) return;
      const auto ends = json::value_to<std::vector<double>>(*interval);
      const double width = ends[1] - ends[0];
      CHECK(std::abs(estimate.interval->low - ends[0]) < 0.05 * width);
      CHECK(std::abs(estimate.interval->high - ends[1]) < 0.05 * width);
    };
    near(interquartile_over_tasks(arm), "interquartile_interval");
    near(better, "improvement_interval");
  }
  CHECK(with_mean == 4);
}

TEST_CASE("Values over these tasks are means over the tasks by seed", "[statistics][over_tasks]") {
  // The arm lacks seed 2 in the second task.
  const TaskResults reference{values({1, 2, 3}, {10, 20, 30}), values({1, 2, 3}, {1, 2, 3})},
      arm{values({3, 2, 1}, {33, 21, 10}), values({1, 3}, {2, 5})};
  const ValuesOverTasks common = values_over_tasks(reference, std::vector<TaskResults>{arm, reference},
                                                   TaskScope::these, true);
  REQUIRE(common.values.size() == 4);
  CHECK(common.reference_of == std::vector<std::size_t>{0, 0, 2, 2});
  CHECK(common.values[1].seeds == std::vector<std::int64_t>{1, 3});
  CHECK(common.values[0].values == std::vector<double>{5.5, 16.5});
  CHECK(common.values[1].values == std::vector<double>{6, 19});
  CHECK(common.values[2].values == common.values[3].values);
  CHECK(common.values[3].seeds.size() == 3);

  // With other seeds in each task: the mean over all pairs is the mean of the tasks' means.
  const ValuesOverTasks own = values_over_tasks(reference, std::vector<TaskResults>{arm}, TaskScope::these, false);
  REQUIRE(own.values[1].values.size() == 5);
  const auto difference = paired_difference(own.values[1].values, own.values[0].values);
  CHECK(difference.mean == Approx(((0 + 1 + 3) / 3.0 + (1 + 2) / 2.0) / 2));
  CHECK(own.values[0].seeds == own.values[1].seeds);

  const ValuesOverTasks alike = values_over_tasks(reference, std::vector<TaskResults>{arm}, TaskScope::like_these,
                                                  true);
  CHECK(alike.values[0].values == std::vector<double>{20, 2});
  CHECK(alike.values[1].values[0] == Approx(64.0 / 3));
  CHECK(alike.values[1].values[1] == 3.5);
}

TEST_CASE("Seeds of tasks have the same numbers in all arms, and an arm that lacks a task has no values",
          "[statistics][over_tasks]") {
  const TaskResults reference{values({7, 8}, {0, 0}), values({7, 9}, {0, 0})},
      whole = reference, part{values({8}, {1}), values({9}, {1})}, lacking{values({7, 8}, {1, 1}), values({}, {})};
  const ValuesOverTasks out = values_over_tasks(reference, std::vector<TaskResults>{whole, part, lacking},
                                                TaskScope::these, false);
  CHECK(out.values[1].seeds == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(out.values[3].seeds == std::vector<std::int64_t>{1, 3});
  CHECK(out.values[5].seeds.empty());
  CHECK_THROWS_AS(values_over_tasks(reference, std::vector<TaskResults>{TaskResults{values({7}, {1})}},
                                    TaskScope::these, true),
                  Failed);
}

TEST_CASE("Bootstraps over tasks are the same bits each time, and hold what is constant", "[statistics][over_tasks]") {
  const TaskRuns arm = drawn(3, 8, 1, 0.5), reference = drawn(3, 9, 2);
  const Estimate once = interquartile_over_tasks(arm), again = interquartile_over_tasks(arm);
  CHECK(once.interval->low == again.interval->low);
  CHECK(once.interval->high == again.interval->high);
  CHECK(once.interval->low < once.value);
  CHECK(once.value < once.interval->high);
  const TaskRuns constant{{2, 2, 2}, {2, 2, 2}};
  CHECK(interquartile_over_tasks(constant).interval->low == 2);
  CHECK(interquartile_over_tasks(constant).interval->high == 2);
  CHECK(improvement_over_tasks(constant, constant, true).value == 0.5);
  CHECK(improvement_over_tasks(constant, constant, true).interval->high == 0.5);
  // Runs are resampled within their tasks: the values of the two tasks never mix.
  const TaskRuns apart{{0, 0, 0, 0}, {1, 1, 1, 1}};
  const std::vector<double> half{0.5};
  CHECK(performance_profile(apart, half, true).front().interval->low == 0.5);
  CHECK(performance_profile(apart, half, true).front().interval->high == 0.5);
  CHECK(performance_profile(apart, std::vector<double>{0.0}, false).front().value == 0); // none is below 0
  CHECK(improvement_over_tasks(arm, reference, true).value > 0.5);
  CHECK(has_bootstrap_runs(arm));
  CHECK_FALSE(has_bootstrap_runs(drawn(3, 7, 1)));
  CHECK_THROWS_AS(interquartile_over_tasks({{1.0}, {}}), Failed);
  CHECK_THROWS_AS(improvement_over_tasks(arm, drawn(2, 8, 1), true), Failed);
}

} // namespace heed::statistics
