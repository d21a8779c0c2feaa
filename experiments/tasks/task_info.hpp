// The registry of tasks.
#pragma once

#include "experiments/tasks/task.hpp"
#include "options/variant.hpp"

namespace heed {

/// A task's entry in the registry. The record is in the task's own file in experiments/tasks/kinds/.
struct TaskInfo {
  Variant about;
  std::unique_ptr<Task> (*make)(const Config& config); ///< throws heed::Refused if the data is not usable
  bool running_text = false; ///< sequences are windows of one long text, not separate examples
};

/// A task whose examples are listed draws nothing but its splits by a seed. So task.seed has no effect beside
/// data.split_seed. (Where data.split_seed itself has no effect, task.seed counts as before.)
OptionCondition seed_of_splits();

/// All registered tasks, in Meson's order (generated).
std::span<const TaskInfo* const> task_kinds();

/// The record of a kind. Throws heed::Refused if there is no kind of this name.
const TaskInfo& task_info(const std::string& kind);

} // namespace heed
