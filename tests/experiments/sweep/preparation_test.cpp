// Tests of the preparation before any run starts: tasks by their settings, and the memory of the largest run.
#include "experiments/sweep/preparation.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/sweep/plan_support.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <fstream>

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

TEST_CASE("a missing file is refused with its option's place", "[sweep][preparation]") {
  const auto refused = [](const std::string& text) {
    Tasks tasks;
    try {
      prepare(Settings::parse("[task]\n" + text, "test.toml"), "test", tasks);
    } catch (const Refused& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  const std::string missing = "kind = \"translation\"\n[data]\npath = \"no such file.tsv\"\n";
  CHECK_THAT(refused(missing), Catch::StartsWith("[data] path = \"no such file.tsv\" does not exist") &&
                                   Catch::EndsWith(" (data.path: test.toml:4:1)"));
  const Scratch folder;
  std::ofstream examples(folder.path / "examples.tsv");
  for (int i = 0; i < 40; ++i) examples << "a b\tc\n";
  examples.close();
  const std::string path = "kind = \"translation\"\n[data]\npath = \"" + (folder.path / "examples.tsv").string() +
                           "\"\n";
  CHECK_THAT(refused(path + "validation_sets = [\"long = missing.tsv\"]"),
             Catch::StartsWith("validation set \"long\": [data] validation_sets = \"missing.tsv\" does not exist") &&
                 Catch::EndsWith(" (data.validation_sets: test.toml:5:1)"));
  // An arm's own value has no place in the file.
  CHECK_THAT(refused("kind = \"copy\"\n[position]\nkind = \"none\"\n[train]\nevaluate_lengths = [5, 40]\n"
                     "[[sweep.block]]\ngrid = { \"position.kind\" = [\"learned\"] }"),
             Catch::EndsWith(" (train.evaluate_lengths: test.toml:6:1) (in the arm \"position = learned\")"));
}

TEST_CASE("unknown words of a further set are a note with the set's name", "[sweep][preparation]") {
  const Scratch folder;
  std::ofstream examples(folder.path / "examples.tsv"), set(folder.path / "set.tsv");
  for (int i = 0; i < 40; ++i) examples << "a b\tc\n";
  set << "a z\tc\n";
  examples.close();
  set.close();
  const auto in_folder = [&](const char* name) { return (folder.path / name).string(); };
  Tasks tasks;
  const Preparation prepared =
      prepare(Settings::parse("task.kind = \"translation\"\n[data]\npath = \"" + in_folder("examples.tsv") +
                                  "\"\nvalidation_sets = [\"odd = " + in_folder("set.tsv") + "\"]",
                              "test.toml"),
              "test", tasks);
  CHECK(prepared.arms.at(0).warnings ==
        Labels{"validation set \"odd\": words of inputs outside the vocabulary: 50 % of the set (1 of 2)"});
}
