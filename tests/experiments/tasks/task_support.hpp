// Helpers for the tests of tasks: make a task's configuration, read single rows of a task, catch error messages, and
// write temporary files.
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

/// One row of a task, without padding.
struct Row {
  std::vector<std::int32_t> tokens, targets;
  bool operator==(const Row&) const = default;
};

inline Row row_of(const Batch& batch, TaskFormat form, std::int64_t at) {
  const auto begin = at * batch.length;
  const auto end = begin + batch.lengths[static_cast<std::size_t>(at)];
  Row row{{batch.tokens.begin() + begin, batch.tokens.begin() + end}, {}};
  if (form == TaskFormat::classification) row.targets = {batch.targets[static_cast<std::size_t>(at)]};
  else row.targets.assign(batch.targets.begin() + begin, batch.targets.begin() + end);
  return row;
}

inline Row training_row(const Task& task, TaskFormat form, std::uint64_t seed, std::int64_t step, std::int64_t row) {
  Batch batch;
  batch.reset(1, task.shape(form).length, form);
  task.training_row(form, seed, step, row, batch, 0);
  return row_of(batch, form, 0);
}

inline Row evaluation_row(const Task& task, TaskFormat form, Split split, std::int64_t row) {
  Batch batch;
  batch.reset(1, task.shape(form).length, form);
  task.evaluation_row(form, split, row, batch, 0);
  return row_of(batch, form, 0);
}

inline std::vector<Row> evaluation_rows(const Task& task, TaskFormat form, Split split) {
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < task.evaluation_rows(form, split); ++i)
    rows.push_back(evaluation_row(task, form, split, i));
  return rows;
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
