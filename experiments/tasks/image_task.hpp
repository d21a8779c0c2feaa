// The common part of image tasks: their only format (image_classification), shapes, pixels and class names.
#pragma once

#include "experiments/tasks/task.hpp"

#include <string>
#include <vector>

namespace heed {

/// The image shape and the classes of a task. A task has one of these objects and forwards its functions to it.
struct ImageClasses {
  std::string task; ///< the task's kind, for errors
  ImageShape image;
  std::vector<std::string> names; ///< the name of each class

  /// Why the task cannot be used in this format; empty if it can.
  std::string refuses(TaskFormat format) const;
  TaskSizes sizes() const;
  /// The names of classes. Throws heed::Failed for a class that does not exist.
  std::string decode(std::span<const std::int32_t> classes) const;
  /// Throws heed::Refused, because image tasks have no text input.
  [[noreturn]] void refuse_text() const;
  /// The address of the pixels of sequence `at`. Throws heed::Failed if the batch has no such sequence, or images of
  /// another shape.
  float* pixels(Batch& batch, std::int64_t at) const;
};

} // namespace heed
