// What tasks of images share: the one form that they have, and the names of their classes.
#pragma once

#include "experiments/tasks/task.hpp"

#include <string>
#include <vector>

namespace heed {

/// The images of a task, and their classes; a task holds one of these and hands its questions on.
struct ImageClasses {
  std::string task; ///< the task's kind, for errors
  ImageShape image;
  std::vector<std::string> names; ///< of the classes

  /// Why images can't be seen in this form.
  std::string refuses(Form form) const;
  TaskShape shape() const;
  /// Names of classes; heed::Failed for one that does not exist.
  std::string decode(std::span<const std::int32_t> classes) const;
  /// heed::Refused: a text is no image.
  [[noreturn]] void refuse_text() const;
  /// Where the pixels of row `at` go; heed::Failed where the batch has no such row, or images of another shape.
  float* pixels(Batch& batch, std::int64_t at) const;
};

} // namespace heed
