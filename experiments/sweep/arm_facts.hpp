// What is known of an arm without running it.
#pragma once

#include "experiments/tasks/task.hpp"
#include "experiments/training/training.hpp"

namespace heed {

struct ArmFacts {
  Cost cost;
  Task::Chance chance{0, ""};
};

} // namespace heed
