#include "experiments/tasks/task.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heed {

void Batch::reset(std::int64_t new_rows, std::int64_t new_length, Form form) {
  rows = new_rows;
  length = new_length;
  const auto row_count = static_cast<std::size_t>(rows);
  const auto token_count = static_cast<std::size_t>(rows * length);
  tokens.assign(token_count, 0);
  lengths.assign(row_count, 0);
  targets.assign(form == Form::language_model ? token_count : row_count, ignored);
}

std::unique_ptr<Task> make_task(const Config& config) {
  const auto kinds = task_kinds();
  const auto found = std::ranges::find(kinds, config.task.kind, [](const TaskInfo* kind) { return kind->about.name; });
  if (found != kinds.end()) return (*found)->make(config);
  std::string names;
  for (const TaskInfo* kind : kinds) names += (names.empty() ? "" : ", ") + kind->about.name;
  throw Refused(fmt::format("[task] kind = \"{}\" is not a task; there are {}", config.task.kind, names));
}

} // namespace heed
