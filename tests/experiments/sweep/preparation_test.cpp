// Tests of the preparation before any run starts: tasks by their settings, and the memory of the largest run.
#include "experiments/sweep/preparation.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/sweep/plan_support.hpp"

using namespace heed;

TEST_CASE("configurations share a task where nothing that makes it differs", "[sweep][preparation]") {
  Tasks tasks;
  const std::string copy = "[task]\nkind = \"copy\"\n";
  const Task& task = tasks.of(config_from(copy));
  CHECK(&tasks.of(config_from(copy)) == &task);
  CHECK(&tasks.of(config_from(copy + "[attention]\nscore = \"additive\"\n[train]\nsteps = 7\n")) == &task);
  for (const std::string& other :
       {std::string("[task]\nkind = \"reverse\"\n"), copy + "seed = 3\n", copy + "[task.copy]\nlength = 12\n",
        copy + "[train]\nbatch = 4\n", "precision = \"float64\"\n" + copy}) {
    INFO(other);
    CHECK(&tasks.of(config_from(other)) != &task);
  }
}

TEST_CASE("the greatest run's memory is that of any arm, or of any point that an arm tries", "[sweep][preparation]") {
  const auto cost = [](double shared, double each) {
    return Cost{.shared_bytes = shared, .thread_bytes = each, .shards = 4};
  };
  Preparation prepared{.settings = Settings::parse("", "test.toml"), .plan = plan_of(""), .arms = {}, .metric = {}};
  prepared.arms = {{{}, cost(10, 1), {}}, {{}, cost(20, 1), {}}, {{}, cost(5, 1), {}}};
  CHECK(largest_bytes(prepared, 2) == 22);
  prepared.arms[0].trials = {{1, cost(10, 1)}, {1, cost(10, 9)}, {1, cost(11, 1)}};
  CHECK(largest_bytes(prepared, 1) == 21);
  CHECK(largest_bytes(prepared, 2) == 28);
  CHECK(largest_bytes(prepared, 8) == 46); // four shards have work for four threads
}

TEST_CASE("a run's operations are those of its steps", "[sweep][preparation]") {
  CHECK(Load{10, Cost{.flops_per_step = 3}}.flops() == 30);
}
