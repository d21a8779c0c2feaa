#include "experiments/tasks/image_task.hpp"

#include "autograd/error.hpp"

#include <fmt/format.h>

namespace heed {

std::string ImageClasses::refuses(TaskFormat format) const {
  if (format == TaskFormat::image_classification) return {};
  return fmt::format("the task {} has images, and the model reads tokens; use a model of images, or a task with tokens",
                     task);
}

TaskSizes ImageClasses::sizes() const {
  TaskSizes sizes;
  sizes.classes = std::ssize(names);
  sizes.image = image;
  return sizes;
}

std::string ImageClasses::decode(std::span<const std::int32_t> classes) const {
  std::string text;
  for (const std::int32_t c : classes) {
    if (c < 0 || c >= std::ssize(names))
      throw Failed(fmt::format("[task.{}] class {} does not exist: there are {}", task, c, names.size()));
    text += (text.empty() ? "" : " ") + names[static_cast<std::size_t>(c)];
  }
  return text;
}

void ImageClasses::refuse_text() const {
  throw Refused(fmt::format("the task {} has images, so a text can't be its input", task));
}

float* ImageClasses::pixels(Batch& batch, std::int64_t at) const {
  if (at < 0 || at >= batch.sequences || batch.image != image)
    throw Failed(
        fmt::format("[task.{}] an image of [{}, {}, {}] does not fit as sequence {} of a batch of {} images of "
                    "[{}, {}, {}]",
                    task, image.channels, image.height, image.width, at, batch.sequences, batch.image.channels,
                    batch.image.height, batch.image.width));
  return batch.images.data() + at * image.size();
}

} // namespace heed
