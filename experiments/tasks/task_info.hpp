// The registry of tasks.
#pragma once

#include "experiments/tasks/task.hpp"
#include "options/variant.hpp"

namespace heed {

/// A task's entry in the registry; the record stands in the task's own file under experiments/tasks/kinds/.
struct TaskInfo {
  Variant about;
  std::unique_ptr<Task> (*make)(const Config& config); ///< throws heed::Refused where the data is not usable
  bool running_text = false; ///< rows are windows of one long text, and not examples of their own
};

/// All registered tasks, in Meson's order (generated).
std::span<const TaskInfo* const> task_kinds();

/// The record of a kind; throws heed::Refused where there is none of that name.
const TaskInfo& task_info(const std::string& kind);

} // namespace heed
