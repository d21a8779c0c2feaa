// Tests of image tasks: generated shapes belong to their class, and images from files are scaled to values around 0.
#include "experiments/config/config.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <cmath>
#include <numeric>
#include <set>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

constexpr TaskFormat pictures = TaskFormat::image_classification;

Batch evaluation_batch(const Task& task, Split split, std::int64_t sequences) {
  Batch batch;
  batch.reset(sequences, task.sizes(pictures), pictures);
  for (std::int64_t i = 0; i < sequences; ++i) task.evaluation_sequence(pictures, split, i, batch, i);
  return batch;
}

/// The shape in a noiseless image: the covered pixels of its bounding box, row by row.
std::vector<std::string> figure(const Batch& batch, std::int64_t sequence) {
  const std::int64_t h = batch.image.height, w = batch.image.width;
  const float* p = batch.images.data() + sequence * batch.image.size();
  std::int64_t top = h, bottom = -1, left = w, right = -1;
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x)
      if (p[y * w + x] > 0) {
        top = std::min(top, y), bottom = std::max(bottom, y);
        left = std::min(left, x), right = std::max(right, x);
      }
  std::vector<std::string> out;
  for (std::int64_t y = top; y <= bottom; ++y) {
    out.emplace_back();
    for (std::int64_t x = left; x <= right; ++x) out.back() += p[y * w + x] > 0 ? '#' : '.';
  }
  return out;
}

/// A folder with files. The destructor removes it.
struct TemporaryFolder {
  TemporaryFolder() : marker("") { std::filesystem::create_directory(path()); }
  ~TemporaryFolder() { std::filesystem::remove_all(path()); }
  std::string path() const { return marker.path() + "-folder"; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path() + "/" + name, std::ios::binary) << bytes;
  }
  TemporaryFile marker;
};

std::string number(std::uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16 & 255), static_cast<char>(n >> 8 & 255),
          static_cast<char>(n & 255)};
}

} // namespace

TEST_CASE("each shape is what its class is called", "[tasks][shapes]") {
  const auto task = make_task(task_config("shapes", {{"noise", 0.0}, {"kinds", std::int64_t{6}}}));
  const TaskSizes sizes = task->sizes(pictures);
  CHECK(sizes.classes == 6);
  CHECK(sizes.image == ImageShape{1, 16, 16});
  const Batch batch = evaluation_batch(*task, Split::validation, 400);
  const std::map<std::string, std::vector<std::string>> of_radius_2 = {
      {"square", {"#####", "#####", "#####", "#####", "#####"}},
      {"disc", {".###.", "#####", "#####", "#####", ".###."}},
      {"triangle", {"..#..", "..#..", ".###.", ".###.", "#####"}},
      {"plus", {"..#..", "..#..", "#####", "..#..", "..#.."}},
      {"frame", {"#####", "#...#", "#...#", "#...#", "#####"}},
      {"cross", {"#...#", ".#.#.", "..#..", ".#.#.", "#...#"}}};
  std::set<std::string> seen;
  std::set<std::size_t> sides;
  for (std::int64_t i = 0; i < batch.sequences; ++i) {
    const std::vector<std::string> found = figure(batch, i);
    const std::string name = task->decode(std::span(batch.targets).subspan(static_cast<std::size_t>(i), 1));
    sides.insert(found.size());
    for (const std::string& row : found) CHECK(row.size() == found.size());
    if (found.size() != 5) continue;
    seen.insert(name);
    CHECK(found == of_radius_2.at(name));
  }
  CHECK(seen.size() == 6);
  CHECK(sides == std::set<std::size_t>{5, 7, 9, 11});
}

TEST_CASE("no figure stands in two splits, and pixels are around 0", "[tasks][shapes]") {
  const auto task = make_task(task_config("shapes", {{"noise", 0.0}}));
  std::set<std::vector<float>> training, others;
  Batch batch;
  batch.reset(8, task->sizes(pictures), pictures);
  const auto image = [](const Batch& b, std::int64_t i) {
    const auto begin = b.images.begin() + i * b.image.size();
    return std::vector<float>(begin, begin + b.image.size());
  };
  for (std::int64_t step = 0; step < 100; ++step)
    for (std::int64_t i = 0; i < 8; ++i) {
      task->training_sequence(pictures, 0, step, i, batch, i);
      training.insert(image(batch, i));
    }
  for (const Split split : {Split::validation, Split::test}) {
    const Batch evaluated = evaluation_batch(*task, split, 300);
    for (std::int64_t i = 0; i < 300; ++i) others.insert(image(evaluated, i));
  }
  for (const auto& one : others) CHECK(training.count(one) == 0);
  CHECK(training.size() > 400);
  const Batch all = evaluation_batch(*task, Split::train, 512);
  const double mean = std::accumulate(all.images.begin(), all.images.end(), 0.0) /
                      static_cast<double>(all.images.size());
  CHECK(std::abs(mean) < 0.3);
}

TEST_CASE("a shape's noise is of its own for every sequence, step and seed", "[tasks][shapes]") {
  const auto task = make_task(task_config("shapes", {{"noise", 0.5}}));
  std::set<std::vector<float>> seen;
  for (const std::uint64_t seed : {0U, 1U})
    for (const std::int64_t step : {0, 1})
      for (const std::int64_t sequence : {0, 1, 0}) {
        Batch batch;
        batch.reset(1, task->sizes(pictures), pictures);
        task->training_sequence(pictures, seed, step, sequence, batch, 0);
        seen.insert(batch.images);
      }
  CHECK(seen.size() == 8);
  CHECK(task->chance(pictures).accuracy == 0.25);
  CHECK_THAT(task->refuses(TaskFormat::language_model), Contains("has images, and the model reads tokens"));
  CHECK(task->refuses(pictures).empty());
  Batch other;
  other.reset(1, TaskSizes{.image = {1, 8, 8}}, pictures);
  CHECK_THAT(failure([&] { task->evaluation_sequence(pictures, Split::test, 0, other, 0); }),
             Contains("an image of [1, 16, 16] does not fit as sequence 0 of a batch of 1 images of [1, 8, 8]"));
}

TEST_CASE("images from files: each once, scaled by training's mean and deviation", "[tasks][image files]") {
  const TemporaryFolder folder;
  std::string pixels, labels;
  for (int i = 0; i < 20; ++i) {
    pixels += std::string(4, static_cast<char>(10 * i));
    labels += static_cast<char>(i % 2);
  }
  const auto write = [&](const std::string& part, std::uint32_t n) {
    folder.write(part + "-images-idx3-ubyte",
                 number(0x803) + number(n) + number(2) + number(2) + pixels.substr(0, 4 * n));
    folder.write(part + "-labels-idx1-ubyte", number(0x801) + number(n) + labels.substr(0, n));
  };
  write("train", 20);
  write("t10k", 6);
  Config config = task_config("images");
  config.data.path = folder.path();
  config.data.train = 0.8;
  config.data.shuffle = false;
  config.train.batch = 4;
  const auto task = make_task(config);
  CHECK(task->facts().sizes == std::array<std::int64_t, 3>{16, 4, 6});
  CHECK(task->sizes(pictures).classes == 2);
  // The training split has 0, 10, ... 150: mean 75, standard deviation 10 sqrt((16^2 - 1) / 12).
  const double deviation = 10 * std::sqrt(255.0 / 12);
  const Batch validation = evaluation_batch(*task, Split::validation, 4);
  for (std::int64_t i = 0; i < 4; ++i) {
    const double value = (160 + 10 * static_cast<double>(i) - 75) / deviation;
    CHECK(static_cast<double>(validation.images[static_cast<std::size_t>(4 * i)]) == Approx(value));
    CHECK(validation.targets[static_cast<std::size_t>(i)] == i % 2);
  }
  std::set<float> seen;
  Batch batch;
  batch.reset(4, task->sizes(pictures), pictures);
  for (std::int64_t step = 0; step < 4; ++step)
    for (std::int64_t i = 0; i < 4; ++i) {
      task->training_sequence(pictures, 5, step, i, batch, i);
      seen.insert(batch.images[static_cast<std::size_t>(4 * i)]);
    }
  CHECK(seen.size() == 16);
  CHECK(task->evaluation_sequences(pictures, Split::test) == 6);
  CHECK(evaluation_batch(*task, Split::test, 6).targets == std::vector<std::int32_t>{0, 1, 0, 1, 0, 1});
  config.data.shuffle = true;
  CHECK(evaluation_batch(*make_task(config), Split::validation, 4).images != validation.images);
}

TEST_CASE("images: a number of examples for validation, and folders of their own for validation and test",
          "[tasks][image files]") {
  const TemporaryFolder train, other, bad;
  const auto write = [](const TemporaryFolder& folder, const std::string& part, std::uint32_t n, int first, int side) {
    std::string pixels, labels;
    for (std::uint32_t i = 0; i < n; ++i) {
      pixels += std::string(static_cast<std::size_t>(side * side), static_cast<char>(first + static_cast<int>(i)));
      labels += static_cast<char>(i % 2);
    }
    folder.write(part + "-images-idx3-ubyte", number(0x803) + number(n) + number(static_cast<std::uint32_t>(side)) +
                                                  number(static_cast<std::uint32_t>(side)) + pixels);
    folder.write(part + "-labels-idx1-ubyte", number(0x801) + number(n) + labels);
  };
  write(train, "train", 20, 0, 2);
  write(train, "t10k", 6, 100, 2);
  write(other, "t10k", 5, 50, 2);
  write(bad, "t10k", 5, 50, 3);
  Config config = task_config("images");
  config.data.path = train.path();
  config.data.validation_rows = 7;
  config.train.batch = 4;
  CHECK(make_task(config)->facts().sizes == std::array<std::int64_t, 3>{13, 7, 6});
  const auto fingerprint = make_task(config)->fingerprint();
  config.data.validation_rows = 20;
  CHECK_THAT(refusal([&] { make_task(config); }), Contains("validation_rows = 20 leaves none of the 20 examples"));

  config.data.validation_rows = 0;
  config.data.validation_path = other.path();
  const auto task = make_task(config);
  CHECK(task->facts().sizes == std::array<std::int64_t, 3>{20, 5, 6});
  CHECK(task->fingerprint() != fingerprint);
  // All of data.path is training data: 0, 1, ... 19, with mean 9.5 and standard deviation sqrt((20^2 - 1) / 12).
  const double deviation = std::sqrt(399.0 / 12);
  const Batch validation = evaluation_batch(*task, Split::validation, 5);
  for (std::int64_t i = 0; i < 5; ++i)
    CHECK(static_cast<double>(validation.images[static_cast<std::size_t>(4 * i)]) ==
          Approx((50 + static_cast<double>(i) - 9.5) / deviation));
  config.data.test_path = other.path();
  CHECK(make_task(config)->facts().sizes == std::array<std::int64_t, 3>{20, 5, 5});
  CHECK_THAT(make_task(config)->facts().files[2], Contains(other.path()));
  CHECK(make_task(config)->warnings() == std::vector<std::string>{"5 of the 5 test images are also validation images"});
  const TemporaryFolder again; // 15 to 24; 15 to 19 are training values
  write(again, "t10k", 10, 15, 2);
  config.data.test_path = again.path();
  CHECK(make_task(config)->warnings() == std::vector<std::string>{"5 of the 10 test images are also training images"});
  config.data.test_path = bad.path();
  CHECK_THAT(refusal([&] { make_task(config); }), Contains("[data] test_path = ") && Contains("1 x 3 x 3"));
  config.data.test_path = "/nowhere";
  CHECK_THAT(refusal([&] { make_task(config); }),
             Contains("[data] test_path = \"/nowhere\" is not a folder with a test part of images"));
}
