// Helpers for the tests of tasks: make a task's configuration, read single sequences of a task, catch error messages,
// and write temporary files.
#pragma once

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/tasks/task.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace heed::test {

inline constexpr TaskFormat lm = TaskFormat::language_model, s2s = TaskFormat::sequence_to_sequence;
inline constexpr Split all_splits[] = {Split::train, Split::validation, Split::test};

inline Config task_config(const std::string& kind, OptionValues options = {}) {
  Config config;
  config.task.kind = kind;
  config.task_options = std::move(options);
  return config;
}

/// One sequence of a task, without padding.
struct Sequence {
  std::vector<std::int32_t> tokens, targets;
  bool operator==(const Sequence&) const = default;
};

inline Sequence sequence_of(const Batch& batch, TaskFormat format, std::int64_t at) {
  const auto begin = at * batch.length;
  const auto end = begin + batch.lengths[static_cast<std::size_t>(at)];
  Sequence sequence{{batch.tokens.begin() + begin, batch.tokens.begin() + end}, {}};
  if (format == TaskFormat::classification) sequence.targets = {batch.targets[static_cast<std::size_t>(at)]};
  else sequence.targets.assign(batch.targets.begin() + begin, batch.targets.begin() + end);
  return sequence;
}

inline Sequence training_sequence(const Task& task, TaskFormat format, std::uint64_t seed, std::int64_t step,
                                  std::int64_t sequence) {
  Batch batch;
  batch.reset(1, task.sizes(format).length, format);
  task.training_sequence(format, seed, step, sequence, batch, 0);
  return sequence_of(batch, format, 0);
}

inline Sequence evaluation_sequence(const Task& task, TaskFormat format, Split split, std::int64_t sequence) {
  Batch batch;
  batch.reset(1, task.sizes(format).length, format);
  task.evaluation_sequence(format, split, sequence, batch, 0);
  return sequence_of(batch, format, 0);
}

inline std::vector<Sequence> evaluation_sequences(const Task& task, TaskFormat format, Split split) {
  std::vector<Sequence> sequences;
  for (std::int64_t i = 0; i < task.evaluation_sequences(format, split); ++i)
    sequences.push_back(evaluation_sequence(task, format, split, i));
  return sequences;
}

inline std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// The message of the heed::Refused that `action` throws; "(not refused)" if it throws none.
template <class Action> std::string refusal(Action action) {
  try {
    action();
  } catch (const Refused& error) {
    return error.what();
  }
  return "(not refused)";
}

/// The message of the heed::Failed that `action` throws; "(did not fail)" if it throws none.
template <class Action> std::string failure(Action action) {
  try {
    action();
  } catch (const Failed& error) {
    return error.what();
  }
  return "(did not fail)";
}

/// A temporary file with the given bytes. The destructor removes it.
class TemporaryFile {
public:
  explicit TemporaryFile(std::string_view bytes) {
    static std::atomic<int> count = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("heed-test-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".txt"))
                .string();
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored_error;
    std::filesystem::remove(path_, ignored_error);
  }
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace heed::test
