// The data of a config as data.
#pragma once

#include "experiments/actions/results.hpp"
#include "experiments/config/config.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/tasks/task_survey.hpp"

#include <string>

namespace heed {

/// How a model sees an example.
std::string view_in_words(TaskFormat format);

DataResult data_result(const Config& config, const Task& task, const TaskSurvey& survey);

} // namespace heed
