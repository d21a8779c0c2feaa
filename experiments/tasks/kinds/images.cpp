// Task `images`: classify images from the files of MNIST, datasets in MNIST's format, or CIFAR-10.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/image_files.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/data/training_order.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/image_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <xxhash.h>

namespace heed {

extern const TaskInfo task_images;

namespace {

/// The images of one split: an image set and the indices of the split's images in it.
struct Part {
  std::shared_ptr<const LabelledImages> set;
  std::vector<std::int64_t> places;

  std::int64_t size() const { return std::ssize(places); }
  std::uint8_t label(std::int64_t i) const {
    return set->labels[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])];
  }
  const std::uint8_t* pixels(std::int64_t i) const {
    return set->pixels.data() + places.at(static_cast<std::size_t>(i)) * set->image_size();
  }
};

std::vector<std::string> class_names(const LabelledImages& images) {
  std::vector<std::string> names;
  for (int i = 0; i <= std::ranges::max(images.labels); ++i) names.push_back(std::to_string(i));
  return names;
}

Part whole(LabelledImages images) {
  Part part{std::make_shared<const LabelledImages>(std::move(images)), {}};
  part.places.resize(static_cast<std::size_t>(part.set->size()));
  std::iota(part.places.begin(), part.places.end(), 0);
  return part;
}

class ImagesTask final : public Task {
public:
  ImagesTask(ImageSet set, const Config& config)
      : images_{"images", {set.training.channels, set.training.height, set.training.width}, class_names(set.training)},
        fingerprint_(std::move(set.fingerprint)) {
    const DataOptions& data = config.data;
    const auto of_own = [&](const char* option, const std::string& path) {
      std::string files;
      const Part part = whole(read_test_images(option, path, files));
      fingerprint_ += fmt::format(" {} {}", option, fingerprint_of(files));
      require_alike(*part.set, option, path);
      return part;
    };
    require_alike(set.test, "path", data.path);
    parts_[2] = data.test_path.empty() ? whole(std::move(set.test)) : of_own("test_path", data.test_path);
    const auto all = std::make_shared<const LabelledImages>(std::move(set.training));
    const auto n = static_cast<std::uint64_t>(all->size());
    const auto sizes = split_sizes(data, n, false);
    parts_[0].set = parts_[1].set = all;
    const RandomKey key{config.split_seed(), Stream::evaluation_sequences, 1};
    for (std::uint64_t place = 0; place < n; ++place)
      parts_[place < sizes[0] ? 0 : 1].places.push_back(static_cast<std::int64_t>(data.shuffle ? permuted(key, place, n)
                                                                                               : place));
    if (!data.validation_path.empty()) parts_[1] = of_own("validation_path", data.validation_path);
    if (!config.of_set.empty()) parts_[1] = of_own("validation_sets", config.of_set);
    if (part(Split::train).size() == 0 || part(Split::validation).size() == 0)
      throw Refused(fmt::format("[data] train = {} leaves {} of {} images for training and {} for validation; both "
                                "need some",
                                data.train, part(Split::train).size(), n, part(Split::validation).size()));
    files_ = {data.path + ", its training part", files_of(data.validation_path, data.path + ", its training part"),
              files_of(data.test_path, data.path + ", its test part")};
    order_ = TrainingOrder(std::vector<std::int32_t>(parts_[0].places.size(), 1), config.train.batch, 1);
    measure();
  }

  std::string refuses(TaskFormat format) const override { return images_.refuses(format); }
  TaskSizes sizes(TaskFormat) const override { return images_.sizes(); }
  std::string decode(std::span<const std::int32_t> classes) const override { return images_.decode(classes); }
  std::vector<std::int32_t> encode(std::string_view) const override { images_.refuse_text(); }

  void training_sequence(TaskFormat, std::uint64_t seed, std::int64_t step, std::int64_t sequence, Batch& batch,
                         std::int64_t at) const override {
    write(part(Split::train), order_.example(seed, step, sequence), batch, at);
  }

  std::int64_t evaluation_sequences(TaskFormat, Split split) const override {
    return split == Split::train ? std::min(part(split).size(), part(Split::validation).size()) : part(split).size();
  }

  void evaluation_sequence(TaskFormat, Split split, std::int64_t sequence, Batch& batch,
                           std::int64_t at) const override {
    write(part(split), sequence, batch, at);
  }

  std::optional<std::int64_t> listed_sequences(TaskFormat, Split split) const override { return part(split).size(); }

  Chance chance(TaskFormat) const override {
    std::vector<std::int64_t> seen(images_.names.size());
    const Part &train = part(Split::train), &validation = part(Split::validation);
    for (std::int64_t i = 0; i < train.size(); ++i) ++seen[train.label(i)];
    const auto commonest = std::ranges::max_element(seen) - seen.begin();
    std::vector<std::int64_t> there(seen.size());
    for (std::int64_t i = 0; i < validation.size(); ++i) ++there[validation.label(i)];
    return {static_cast<double>(there[static_cast<std::size_t>(commonest)]) / static_cast<double>(validation.size()),
            fmt::format("always {}, the commonest class of the training split", commonest), std::nullopt,
            loss_by_frequencies(seen, there, "classes")};
  }

  Facts facts() const override {
    return {.unit = "images",
            .sizes = {parts_[0].size(), parts_[1].size(), parts_[2].size()},
            .files = files_,
            .notes = {"pixels are scaled to mean 0 and deviation 1 over training"}};
  }

  /// Warns if an image is in two splits, because a folder was named twice or a set has duplicates.
  std::vector<std::string> warnings() const override {
    const auto hash_of = [&](const Part& from, std::int64_t i) {
      return XXH3_64bits(from.pixels(i), static_cast<std::size_t>(images_.image.size()));
    };
    const auto hashes_of = [&](Split split) {
      std::unordered_set<XXH64_hash_t> hashes;
      for (std::int64_t i = 0; i < part(split).size(); ++i) hashes.insert(hash_of(part(split), i));
      return hashes;
    };
    std::vector<std::string> out;
    const auto compare = [&](Split split, const char* name, const std::unordered_set<XXH64_hash_t>& others,
                             const char* other) {
      std::int64_t known = 0;
      for (std::int64_t i = 0; i < part(split).size(); ++i) known += others.contains(hash_of(part(split), i));
      if (known > 0)
        out.push_back(fmt::format("{} of the {} {} images {} also {} image{}", known, part(split).size(), name,
                                  known == 1 ? "is" : "are", other, plural(known)));
    };
    const auto trained = hashes_of(Split::train);
    compare(Split::validation, "validation", trained, "training");
    compare(Split::test, "test", trained, "training");
    compare(Split::test, "test", hashes_of(Split::validation), "validation");
    return out;
  }

  std::string own_fingerprint() const override { return fingerprint_; }

private:
  const Part& part(Split split) const { return parts_[static_cast<std::size_t>(split)]; }

  static std::string files_of(const std::string& own, const std::string& otherwise) {
    return own.empty() ? otherwise : own + ", its test part";
  }

  void require_alike(const LabelledImages& images, const char* option, const std::string& path) const {
    if (ImageShape{images.channels, images.height, images.width} == images_.image &&
        std::ranges::max(images.labels) < std::ssize(images_.names))
      return;
    throw Refused(fmt::format("[data] {} = \"{}\": its images differ from the training images in size or classes: {} x "
                              "{} x {} and classes up to {}, instead of {} x {} x {} and up to {}",
                              option, path, images.channels, images.height, images.width,
                              std::ranges::max(images.labels), images_.image.channels, images_.image.height,
                              images_.image.width, images_.names.size() - 1));
  }

  /// Computes the mean and the standard deviation of each channel over the training split.
  void measure() {
    const Part& train = part(Split::train);
    const std::int64_t plane = images_.image.height * images_.image.width;
    for (std::int64_t c = 0; c < images_.image.channels; ++c) {
      double sum = 0, squares = 0;
      for (std::int64_t i = 0; i < train.size(); ++i) {
        const std::uint8_t* p = train.pixels(i) + c * plane;
        std::int64_t s = 0, q = 0;
        for (std::int64_t j = 0; j < plane; ++j) {
          s += p[j];
          q += std::int64_t{p[j]} * p[j];
        }
        sum += static_cast<double>(s);
        squares += static_cast<double>(q);
      }
      const double n = static_cast<double>(plane) * static_cast<double>(train.size()), mean = sum / n;
      const double deviation = std::sqrt(std::max(0.0, squares / n - mean * mean));
      means_.push_back(mean);
      scales_.push_back(deviation > 0 ? 1 / deviation : 1);
    }
  }

  void write(const Part& from, std::int64_t i, Batch& batch, std::int64_t at) const {
    float* to = images_.pixels(batch, at);
    const std::uint8_t* p = from.pixels(i);
    for (std::size_t c = 0; c < means_.size(); ++c)
      for (std::int64_t j = 0; j < images_.image.height * images_.image.width; ++j)
        *to++ = static_cast<float>((*p++ - means_[c]) * scales_[c]);
    batch.targets[static_cast<std::size_t>(at)] = from.label(i);
  }

  ImageClasses images_;
  std::string fingerprint_;
  std::array<Part, 3> parts_;        // indexed by Split
  std::array<std::string, 3> files_; // indexed by Split
  TrainingOrder order_{{1}, 1, 1};
  std::vector<double> means_, scales_; // for each channel
};

std::unique_ptr<Task> make_images(const Config& config) {
  return std::make_unique<ImagesTask>(read_image_folder(config.data.path), config);
}

} // namespace

const TaskInfo task_images = {
    {.name = "images",
     .summary = "the class of an image: the IDX files of MNIST and its family, or CIFAR-10's binary ones, in a folder",
     .paper = "LeCun, Bottou, Bengio and Haffner 1998 (MNIST); Krizhevsky 2009 (CIFAR-10)",
     .cost = "memory: 1 byte for each pixel",
     .disables = {"task.validation", "task.test"},
     .needs = {"data.path"},
     .uses = {"data.train", "data.validation_rows", "data.shuffle"},
     .conditions = {seed_of_splits()}},
    make_images};

} // namespace heed
