// The contract of the registry of tasks, and of batches.
#include "tests/experiments/tasks/task_support.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace heed;
using namespace heed::test;

TEST_CASE("the registry lists every task with its own record", "[tasks]") {
  std::vector<std::string> names;
  for (const TaskInfo* kind : task_kinds()) {
    names.push_back(kind->about.name);
    CHECK_FALSE(kind->about.summary.empty());
    CHECK_FALSE(kind->about.paper.empty());
    CHECK(kind->make != nullptr);
    std::set<std::string> options;
    for (const Option& option : kind->about.options) {
      CHECK_FALSE(option.meaning.empty());
      CHECK(options.insert(option.name).second);
    }
  }
  CHECK(names == std::vector<std::string>{"text", "copy", "reverse", "sort", "recall", "parity", "modular_addition"});
}

TEST_CASE("a task is made by its name, and an unknown name is refused with those that there are", "[tasks]") {
  CHECK(make_task(task_config("parity"))->fingerprint().starts_with("parity "));
  CHECK(refusal([] { make_task(task_config("copies")); }) ==
        "[task] kind = \"copies\" is not a task; there are text, copy, reverse, sort, recall, parity, "
        "modular_addition");
}

TEST_CASE("resetting a batch leaves padding and ignored targets, and reuses its room", "[tasks]") {
  Batch batch;
  batch.reset(2, 3, Form::language_model);
  CHECK(batch.tokens == std::vector<std::int32_t>(6, 0));
  CHECK(batch.targets == std::vector<std::int32_t>(6, ignored));
  CHECK(batch.lengths == std::vector<std::int32_t>(2, 0));

  batch.tokens.assign(6, 7);
  batch.targets.assign(6, 7);
  batch.lengths.assign(2, 7);
  const auto* const tokens = batch.tokens.data();
  const auto* const targets = batch.targets.data();
  batch.reset(1, 4, Form::classification);
  CHECK(batch.rows == 1);
  CHECK(batch.length == 4);
  CHECK(batch.tokens == std::vector<std::int32_t>(4, 0));
  CHECK(batch.targets == std::vector<std::int32_t>(1, ignored));
  CHECK(batch.lengths == std::vector<std::int32_t>(1, 0));
  CHECK(batch.tokens.data() == tokens);
  CHECK(batch.targets.data() == targets);
}
