// The vocabulary of a task as JSON, for readers and other programs.
#pragma once

#include "experiments/tasks/task.hpp"

#include <string>

namespace heed {

/// A JSON object with lists of texts; the index in a list is the token's number:
/// - "tokens": what the model reads, each as Task::token_text gives it (a line feed is "\n");
/// - "output_tokens": sequence_to_sequence, if outputs have other token numbers than inputs;
/// - "classes": classification.
/// Each text has its own line. Empty for images, because they have no vocabulary.
std::string vocabulary_json(const Task& task, TaskFormat form);

} // namespace heed
