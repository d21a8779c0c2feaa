// Task `images`: the class of an image, from the files of MNIST, its family, and CIFAR-10.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/image_files.hpp"
#include "experiments/data/training_order.hpp"
#include "experiments/tasks/image_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heed {

extern const TaskInfo task_images;

namespace {

std::vector<std::string> class_names(const LabelledImages& images) {
  std::vector<std::string> names;
  for (int i = 0; i <= std::ranges::max(images.labels); ++i) names.push_back(std::to_string(i));
  return names;
}

class ImagesTask final : public Task {
public:
  ImagesTask(ImageSet set, const Config& config)
      : images_{"images", {set.training.channels, set.training.height, set.training.width}, class_names(set.training)},
        set_(std::move(set)) {
    const LabelledImages& all = set_.training;
    if (set_.test.height != all.height || set_.test.width != all.width || set_.test.channels != all.channels ||
        std::ranges::max(set_.test.labels) >= std::ssize(images_.names))
      throw Refused(fmt::format("[data] path = \"{}\": training and test have images of other sizes, or other classes",
                                config.data.path));
    const auto n = static_cast<std::uint64_t>(all.size());
    const auto train_end = static_cast<std::uint64_t>(static_cast<double>(n) * config.data.train);
    const RandomKey key{static_cast<std::uint64_t>(config.task.seed), Stream::evaluation_rows, 1};
    for (std::uint64_t place = 0; place < n; ++place)
      (place < train_end ? train_ : validation_)
          .push_back(static_cast<std::int64_t>(config.data.shuffle ? permuted(key, place, n) : place));
    if (train_.empty() || validation_.empty())
      throw Refused(fmt::format("[data] train = {} leaves {} of {} images for training and {} for validation; both "
                                "need some",
                                config.data.train, train_.size(), n, validation_.size()));
    order_ = TrainingOrder(std::vector<std::int32_t>(train_.size(), 1), config.train.batch, 1);
    measure();
  }

  std::string refuses(Form form) const override { return images_.refuses(form); }
  TaskShape shape(Form) const override { return images_.shape(); }
  std::string decode(std::span<const std::int32_t> classes) const override { return images_.decode(classes); }
  std::vector<std::int32_t> encode(std::string_view) const override { images_.refuse_text(); }

  void training_row(Form, std::uint64_t seed, std::int64_t step, std::int64_t row, Batch& batch,
                    std::int64_t at) const override {
    write(set_.training, train_[static_cast<std::size_t>(order_.example(seed, step, row))], batch, at);
  }

  std::int64_t evaluation_rows(Form, Split split) const override {
    if (split == Split::test) return set_.test.size();
    const std::int64_t validation = std::ssize(validation_);
    return split == Split::validation ? validation : std::min(validation, std::ssize(train_));
  }

  void evaluation_row(Form, Split split, std::int64_t row, Batch& batch, std::int64_t at) const override {
    if (split == Split::test) return write(set_.test, row, batch, at);
    write(set_.training, (split == Split::train ? train_ : validation_).at(static_cast<std::size_t>(row)), batch, at);
  }

  Chance chance(Form) const override {
    std::vector<std::int64_t> seen(images_.names.size());
    for (const std::int64_t i : train_) ++seen[set_.training.labels[static_cast<std::size_t>(i)]];
    const auto commonest = std::ranges::max_element(seen) - seen.begin();
    const auto hits = std::ranges::count_if(
        validation_, [&](std::int64_t i) { return set_.training.labels[static_cast<std::size_t>(i)] == commonest; });
    return {static_cast<double>(hits) / static_cast<double>(validation_.size()),
            fmt::format("always {}, the commonest class of the training split", commonest)};
  }

  Facts facts() const override {
    return {.unit = "images",
            .sizes = {std::ssize(train_), std::ssize(validation_), set_.test.size()},
            .notes = {"the test is the set's own; pixels are scaled to mean 0 and deviation 1 over training"}};
  }

  std::string fingerprint() const override { return set_.fingerprint; }

private:
  /// Mean and deviation of each channel over the training part.
  void measure() {
    const std::int64_t plane = images_.image.height * images_.image.width;
    for (std::int64_t c = 0; c < images_.image.channels; ++c) {
      double sum = 0, squares = 0;
      for (const std::int64_t i : train_) {
        const std::uint8_t* p = set_.training.pixels.data() + i * images_.image.size() + c * plane;
        std::int64_t s = 0, q = 0;
        for (std::int64_t j = 0; j < plane; ++j) { s += p[j]; q += std::int64_t{p[j]} * p[j]; }
        sum += static_cast<double>(s);
        squares += static_cast<double>(q);
      }
      const double n = static_cast<double>(plane) * static_cast<double>(train_.size()), mean = sum / n;
      const double deviation = std::sqrt(std::max(0.0, squares / n - mean * mean));
      means_.push_back(mean);
      scales_.push_back(deviation > 0 ? 1 / deviation : 1);
    }
  }

  void write(const LabelledImages& from, std::int64_t i, Batch& batch, std::int64_t at) const {
    float* to = images_.pixels(batch, at);
    const std::uint8_t* p = from.pixels.data() + i * images_.image.size();
    for (std::size_t c = 0; c < means_.size(); ++c)
      for (std::int64_t j = 0; j < images_.image.height * images_.image.width; ++j)
        *to++ = static_cast<float>((*p++ - means_[c]) * scales_[c]);
    batch.targets[static_cast<std::size_t>(at)] = from.labels[static_cast<std::size_t>(i)];
  }

  ImageClasses images_;
  ImageSet set_;
  std::vector<std::int64_t> train_, validation_;  // images of the set's training part
  TrainingOrder order_{{1}, 1, 1};
  std::vector<double> means_, scales_;            // of each channel
};

std::unique_ptr<Task> make_images(const Config& config) {
  return std::make_unique<ImagesTask>(read_image_folder(config.data.path), config);
}

} // namespace

const TaskInfo task_images = {
    {.name = "images",
     .summary = "the class of an image: the IDX files of MNIST and its family, or CIFAR-10's binary ones, in a folder",
     .paper = "LeCun, Bottou, Bengio and Haffner 1998 (MNIST); Krizhevsky 2009 (CIFAR-10)",
     .equals = "",
     .cost = "a byte a pixel in memory",
     .options = {},
     .presets = {}},
    make_images};

} // namespace heed
