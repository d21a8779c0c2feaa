// Tests of the registry of tasks, and of batches.
#include "experiments/tasks/task_info.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <algorithm>
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
  CHECK(names ==
        std::vector<std::string>{"text",     "copy",    "selective_copy", "reverse",          "sort",
                                 "recall",   "mqar",    "noisy_recall",   "induction",        "dyck",
                                 "group",    "stack",   "parity",         "modular_addition", "modular_arithmetic",
                                 "addition", "listops", "scan",           "translation",      "labelled_text",
                                 "shapes",   "images"});
}

TEST_CASE("a task is made by its name, and an unknown name is refused with those that there are", "[tasks]") {
  CHECK(make_task(task_config("parity"))->fingerprint().starts_with("parity "));
  CHECK(refusal([] { make_task(task_config("copies")); }) ==
        "[task] kind = \"copies\" is not a task; there are text, copy, selective_copy, reverse, sort, recall, mqar, "
        "noisy_recall, induction, dyck, group, stack, parity, modular_addition, modular_arithmetic, addition, listops, "
        "scan, translation, labelled_text, shapes, images");
}

TEST_CASE("a task is refused without the file that its record says it needs, and made without one otherwise",
          "[tasks]") {
  for (const TaskInfo* kind : task_kinds()) {
    INFO(kind->about.name);
    const std::string why = refusal([&] { make_task(task_config(kind->about.name)); });
    const auto& needs = kind->about.needs;
    CHECK((why.find("path") != std::string::npos) == (std::count(needs.begin(), needs.end(), "data.path") == 1));
    CHECK((why == "(not refused)") == needs.empty());
  }
}

TEST_CASE("resetting a batch leaves padding and ignored targets, and reuses its room", "[tasks]") {
  Batch batch;
  batch.reset(2, 3, TaskFormat::language_model);
  CHECK(batch.tokens == std::vector<std::int32_t>(6, 0));
  CHECK(batch.targets == std::vector<std::int32_t>(6, ignored));
  CHECK(batch.lengths == std::vector<std::int32_t>(2, 0));

  batch.tokens.assign(6, 7);
  batch.targets.assign(6, 7);
  batch.lengths.assign(2, 7);
  const auto* const tokens = batch.tokens.data();
  const auto* const targets = batch.targets.data();
  batch.reset(1, 4, TaskFormat::classification);
  CHECK(batch.sequences == 1);
  CHECK(batch.length == 4);
  CHECK(batch.tokens == std::vector<std::int32_t>(4, 0));
  CHECK(batch.targets == std::vector<std::int32_t>(1, ignored));
  CHECK(batch.lengths == std::vector<std::int32_t>(1, 0));
  CHECK(batch.tokens.data() == tokens);
  CHECK(batch.targets.data() == targets);
}

TEST_CASE("a batch of sequence to sequence has sequences of outputs, and one of images has images only", "[tasks]") {
  Batch batch;
  batch.reset(2, TaskSizes{.length = 3, .output_length = 4}, TaskFormat::sequence_to_sequence);
  CHECK(batch.format == TaskFormat::sequence_to_sequence);
  CHECK(batch.tokens == std::vector<std::int32_t>(6, 0));
  CHECK(batch.outputs == std::vector<std::int32_t>(8, 0));
  CHECK(batch.targets == std::vector<std::int32_t>(8, ignored));
  CHECK(batch.output_lengths == std::vector<std::int32_t>(2, 0));

  batch.reset(2, TaskSizes{.length = 9, .image = {3, 4, 5}}, TaskFormat::image_classification);
  CHECK(batch.images == std::vector<float>(120, 0.0F));
  CHECK(batch.targets == std::vector<std::int32_t>(2, ignored));
  CHECK(batch.image == ImageShape{3, 4, 5});
  CHECK(batch.length == 0);
  CHECK(batch.tokens.empty());
  CHECK(batch.outputs.empty());
  CHECK(batch.real_tokens() == 2);
}

TEST_CASE("trimming cuts each kind of sequence to the longest that is there, and takes no memory", "[tasks]") {
  Batch batch;
  batch.reset(3, TaskSizes{.length = 5, .output_length = 4}, TaskFormat::sequence_to_sequence);
  batch.tokens = {1, 2, 0, 0, 0, 3, 4, 5, 0, 0, 6, 0, 0, 0, 0};
  batch.lengths = {2, 3, 1};
  batch.outputs = {9, 1, 0, 0, 9, 0, 0, 0, 9, 2, 0, 0};
  batch.targets = {1, 8, ignored, ignored, 8, ignored, ignored, ignored, 2, 8, ignored, ignored};
  batch.output_lengths = {2, 1, 2};
  const std::int32_t* const where[] = {batch.tokens.data(), batch.outputs.data(), batch.targets.data()};
  CHECK(batch.real_tokens() == 11);
  batch.trim();
  CHECK(batch.length == 3);
  CHECK(batch.tokens == std::vector<std::int32_t>{1, 2, 0, 3, 4, 5, 6, 0, 0});
  CHECK(batch.output_length == 2);
  CHECK(batch.outputs == std::vector<std::int32_t>{9, 1, 9, 0, 9, 2});
  CHECK(batch.targets == std::vector<std::int32_t>{1, 8, 8, ignored, 2, 8});
  CHECK(batch.lengths == std::vector<std::int32_t>{2, 3, 1});
  CHECK(where[0] == batch.tokens.data());
  CHECK(where[1] == batch.outputs.data());
  CHECK(where[2] == batch.targets.data());
  const Batch once = batch;
  batch.trim();
  CHECK(batch.tokens == once.tokens);
  CHECK(batch.targets == once.targets);
}

TEST_CASE("trimming takes a language model's targets along, and leaves a classifier's", "[tasks]") {
  Batch batch;
  batch.reset(2, 3, TaskFormat::language_model);
  batch.tokens = {1, 2, 0, 3, 0, 0};
  batch.targets = {2, 4, ignored, 5, ignored, ignored};
  batch.lengths = {2, 1};
  batch.trim();
  CHECK(batch.tokens == std::vector<std::int32_t>{1, 2, 3, 0});
  CHECK(batch.targets == std::vector<std::int32_t>{2, 4, 5, ignored});

  batch.reset(2, 3, TaskFormat::classification);
  batch.lengths = {0, 0};
  batch.targets = {1, 0};
  batch.trim();
  CHECK(batch.length == 1); // a model gets at least one token
  CHECK(batch.targets == std::vector<std::int32_t>{1, 0});
}
