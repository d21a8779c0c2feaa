// Helpers for the tests of tasks whose targets are at certain positions of one sequence.
#pragma once

#include "tests/catch.hpp"
#include "tests/experiments/tasks/generated_support.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace heed::test {

/// A sequence as words, with "_" at positions without a target.
struct Words {
  std::vector<std::string> tokens, targets;
};

inline Words words_of(const Task& task, const Sequence& sequence) {
  Words words;
  for (const std::int32_t token : sequence.tokens) words.tokens.push_back(task.decode({&token, 1}));
  for (const std::int32_t target : sequence.targets)
    words.targets.push_back(target == ignored ? "_" : task.decode({&target, 1}));
  return words;
}

/// Sequences of all splits; 300 of training.
inline std::vector<Words> sequences_of(const Task& task) {
  std::vector<Words> out;
  for (const Split split : all_splits)
    for (const Sequence& sequence : evaluation_sequences(task, lm, split)) out.push_back(words_of(task, sequence));
  for (std::int64_t i = 0; i < 300; ++i) out.push_back(words_of(task, training_sequence(task, lm, 5, i / 8, i % 8)));
  return out;
}

/// A task with few sequences.
inline Config small_config(const std::string& kind, const OptionValues& options) {
  Config config = task_config(kind, options);
  config.task.validation = config.task.test = 64;
  return config;
}

/// Properties of all these tasks: no example is in two splits, the same seed gives the same sequences, and there is
/// only one format.
inline void check_contract(const Config& config) {
  const auto task = make_task(config), again = make_task(config);
  std::set<std::vector<std::int32_t>> held_out, training;
  for (const Split split : all_splits) {
    const auto sequences = evaluation_sequences(*task, lm, split);
    CHECK(sequences == evaluation_sequences(*again, lm, split));
    for (const Sequence& sequence : sequences) {
      auto& those = split == Split::train ? training : held_out;
      CHECK(those.insert(sequence.tokens).second);
      CHECK(sequence.tokens.size() == sequence.targets.size());
      CHECK(task->encode(task->decode(sequence.tokens)) == sequence.tokens);
    }
  }
  for (std::int64_t i = 0; i < 500; ++i) {
    const Sequence sequence = training_sequence(*task, lm, 2, i, i % 5);
    CHECK(sequence == training_sequence(*again, lm, 2, i, i % 5));
    training.insert(sequence.tokens);
  }
  for (const auto& sequence : held_out) CHECK_FALSE(training.contains(sequence));
  CHECK(task->chance(lm).sequence->value <= (1 + 1e-12) * task->chance(lm).accuracy);
  for (const TaskFormat format : {TaskFormat::sequence_to_sequence, TaskFormat::classification})
    CHECK_THAT(task->refuses(format), Catch::Contains("the targets of the task " + config.task.kind +
                                                      " are at positions within one sequence") &&
                                          Catch::Contains("model.kind = \"decoder\""));
  CHECK(task->refuses(lm).empty());
}

} // namespace heed::test
