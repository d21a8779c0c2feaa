// Task `shapes`: classify small synthetic images by the kind of shape that they show.
#include "autograd/rng.hpp"
#include "experiments/config/config.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/image_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace heed {

extern const TaskInfo task_shapes;

namespace {

/// A kind of shape. `covers`: does a shape of radius r cover the pixel at offset (x, y) from its centre?
struct Kind {
  const char* name;
  bool (*covers)(std::int64_t x, std::int64_t y, std::int64_t r);
};

constexpr std::int64_t thickness(std::int64_t r) { return r / 3; }

constexpr Kind all_kinds[] = {
    {"square", [](std::int64_t, std::int64_t, std::int64_t) { return true; }},
    {"disc", [](std::int64_t x, std::int64_t y, std::int64_t r) { return x * x + y * y <= r * r + r / 2; }},
    {"triangle", [](std::int64_t x, std::int64_t y, std::int64_t r) { return 2 * std::abs(x) <= y + r; }},
    {"plus", [](std::int64_t x, std::int64_t y,
                std::int64_t r) { return std::abs(x) <= thickness(r) || std::abs(y) <= thickness(r); }},
    {"frame", [](std::int64_t x, std::int64_t y,
                 std::int64_t r) { return std::abs(x) >= r - thickness(r) || std::abs(y) >= r - thickness(r); }},
    {"cross", [](std::int64_t x, std::int64_t y,
                 std::int64_t r) { return std::abs(std::abs(x) - std::abs(y)) <= thickness(r); }},
};
constexpr auto kind_count = static_cast<std::int64_t>(std::size(all_kinds));

struct ShapesOptions {
  std::int64_t size = 16;
  std::int64_t kinds = 4;
  double noise = 0.3;
};

const OptionTable<ShapesOptions>& shapes_option_table() {
  static const auto table = option_table<ShapesOptions>(
      option("size", &ShapesOptions::size, "height and width of the images").between(8, 256).unit("pixels"),
      option("kinds", &ShapesOptions::kinds,
             "the number of kinds: the first ones of square, disc, triangle, plus, frame, cross")
          .between(2, static_cast<double>(kind_count)),
      option("noise", &ShapesOptions::noise,
             "standard deviation of the noise on each pixel; a shape's pixels are 2 above the background")
          .between(0, 10));
  return table;
}

/// The content of an image: kind, radius and position of its shape. The image also has random noise.
struct Figure {
  std::int64_t kind, radius, x, y;
};

class ShapesTask final : public Task {
public:
  ShapesTask(const ShapesOptions& options, const TaskOptions& task, std::uint64_t split_seed)
      : images_{"shapes",
                {1, options.size, options.size},
                names_of(std::span(all_kinds).first(static_cast<std::size_t>(options.kinds)))},
        options_(options), seed_(static_cast<std::uint64_t>(task.seed)),
        split_seed_(split_seed), sequences_{task.validation, task.validation, task.test} {}

  std::string refuses(TaskFormat format) const override { return images_.refuses(format); }
  TaskSizes sizes(TaskFormat) const override { return images_.sizes(); }
  std::string decode(std::span<const std::int32_t> classes) const override { return images_.decode(classes); }
  std::vector<std::int32_t> encode(std::string_view) const override { images_.refuse_text(); }

  void training_sequence(TaskFormat, std::uint64_t seed, std::int64_t step, std::int64_t sequence, Batch& batch,
                         std::int64_t at) const override {
    RandomSource random({seed, Stream::training_sequences, static_cast<std::uint64_t>(step)},
                        static_cast<std::uint64_t>(sequence) << 32);
    draw(random, Split::train, batch, at);
  }

  std::int64_t evaluation_sequences(TaskFormat, Split split) const override {
    return sequences_[static_cast<std::size_t>(split)];
  }

  void evaluation_sequence(TaskFormat, Split split, std::int64_t sequence, Batch& batch,
                           std::int64_t at) const override {
    RandomSource random({seed_, Stream::evaluation_sequences, static_cast<std::uint64_t>(split)},
                        static_cast<std::uint64_t>(sequence) << 32);
    draw(random, split, batch, at);
  }

  Chance chance(TaskFormat) const override { return chance_of_label(options_.kinds, "kinds", false); }

  Facts facts() const override {
    return {.unit = "images",
            .sizes = {-1, sequences_[1], sequences_[2]},
            .notes = {"no two splits share a shape of the same kind, place and size"}};
  }

  std::string own_fingerprint() const override {
    return fmt::format("shapes 1: size = {}, kinds = {}, noise = {}; seed = {}{}, validation = {}, test = {}",
                       options_.size, options_.kinds, options_.noise, seed_,
                       split_seed_ == seed_ ? "" : fmt::format(", split seed = {}", split_seed_), sequences_[1],
                       sequences_[2]);
  }

private:
  /// The split of a figure, at random: 8 of 10 figures are in training, 1 in validation, 1 in test.
  Split split_of(const Figure& f) const {
    const auto place = static_cast<std::uint64_t>(((f.kind * 256 + f.radius) * 256 + f.x) * 256 + f.y);
    const std::uint64_t tenth = below({split_seed_, Stream::evaluation_sequences, 16}, place, 10);
    return tenth < 8 ? Split::train : tenth == 8 ? Split::validation : Split::test;
  }

  Figure draw_figure(RandomSource& random) const {
    const auto between = [&](std::int64_t low, std::int64_t high) {
      return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
    };
    Figure f{};
    f.kind = between(0, options_.kinds - 1);
    f.radius = between(2, std::max<std::int64_t>(2, options_.size / 3));
    f.x = between(f.radius, options_.size - 1 - f.radius);
    f.y = between(f.radius, options_.size - 1 - f.radius);
    return f;
  }

  void draw(RandomSource& random, Split split, Batch& batch, std::int64_t at) const {
    Figure f = draw_figure(random);
    while (split_of(f) != split) f = draw_figure(random);
    float* pixel = images_.pixels(batch, at);
    // A shape covers about a quarter of the image, so these values give pixels a mean of about 0.
    constexpr double ground = -0.5, figure = 1.5;
    for (std::int64_t y = 0; y < options_.size; ++y)
      for (std::int64_t x = 0; x < options_.size; ++x) {
        const std::int64_t dx = x - f.x, dy = y - f.y;
        const bool within = std::abs(dx) <= f.radius && std::abs(dy) <= f.radius &&
                            all_kinds[f.kind].covers(dx, dy, f.radius);
        const double noise = options_.noise > 0 ? options_.noise * random.normal() : 0;
        *pixel++ = static_cast<float>((within ? figure : ground) + noise);
      }
    batch.targets[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(f.kind);
  }

  ImageClasses images_;
  ShapesOptions options_;
  std::uint64_t seed_, split_seed_;
  std::array<std::int64_t, 3> sequences_; // indexed by Split
};

std::unique_ptr<Task> make_shapes(const Config& config) {
  return std::make_unique<ShapesTask>(shapes_option_table().read(config.task_options), config.task,
                                      config.split_seed());
}

} // namespace

const TaskInfo task_shapes = {
    {.name = "shapes",
     .summary = "small noisy images of a square, disc, triangle, ... of any size and place; the class is the kind of "
                "shape",
     .paper = "as in Higgins et al. 2017, beta-VAE (dSprites), ICLR 2017",
     .cost = "size^2 pixels for each image; images are drawn when they are needed",
     .options = shapes_option_table().options()},
    make_shapes};

} // namespace heed
