#include "experiments/tasks/task.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heed {

namespace {

/// Shortens rows of `from` values to their first `to` values, in place.
void shorten_rows(std::vector<std::int32_t>& rows, std::int64_t from, std::int64_t to) {
  const auto count = static_cast<std::int64_t>(rows.size()) / from;
  for (std::int64_t r = 1; r < count; ++r) std::copy_n(rows.begin() + r * from, to, rows.begin() + r * to);
  rows.resize(static_cast<std::size_t>(count * to));
}

std::int64_t longest(const std::vector<std::int32_t>& lengths) {
  return lengths.empty() ? 1 : std::max(1, std::ranges::max(lengths));
}

/// Throws heed::Refused if the set has classes or tokens that the task has not.
void require_same_tokens(const Task& task, const Task& of_set, const ValidationSet& set) {
  for (const TaskFormat form : {TaskFormat::language_model, TaskFormat::sequence_to_sequence,
                                TaskFormat::classification, TaskFormat::image_classification}) {
    if (!task.refuses(form).empty()) continue;
    const TaskSizes all = task.shape(form), own = of_set.shape(form);
    if (all.vocabulary != own.vocabulary || all.classes != own.classes || !(all.image == own.image))
      throw Refused(fmt::format("[data] validation_sets: the rows of \"{}\" have tokens, labels or sizes that those of "
                                "data.path have not; a set needs the same",
                                set.path));
  }
}

} // namespace

void Batch::reset(std::int64_t new_rows, const TaskSizes& shape, TaskFormat new_form) {
  rows = new_rows;
  form = new_form;
  const bool has_images = form == TaskFormat::image_classification,
             has_outputs = form == TaskFormat::sequence_to_sequence;
  length = has_images ? 0 : shape.length;
  output_length = has_outputs ? shape.output_length : 0;
  image = has_images ? shape.image : ImageShape{};
  const auto row_count = static_cast<std::size_t>(rows);
  const auto token_count = static_cast<std::size_t>(rows * length);
  const auto output_count = static_cast<std::size_t>(rows * output_length);
  tokens.assign(token_count, 0);
  lengths.assign(has_images ? 0 : row_count, 0);
  outputs.assign(output_count, 0);
  output_lengths.assign(has_outputs ? row_count : 0, 0);
  images.assign(static_cast<std::size_t>(rows * image.size()), 0.0F);
  targets.assign(form == TaskFormat::language_model ? token_count : has_outputs ? output_count : row_count, ignored);
}

void Batch::reset(std::int64_t new_rows, std::int64_t new_length, TaskFormat new_form) {
  TaskSizes shape;
  shape.length = new_length;
  reset(new_rows, shape, new_form);
}

void Batch::trim() {
  if (const std::int64_t kept = longest(lengths); kept < length) {
    shorten_rows(tokens, length, kept);
    if (form == TaskFormat::language_model) shorten_rows(targets, length, kept);
    length = kept;
  }
  if (const std::int64_t kept = longest(output_lengths); kept < output_length) {
    shorten_rows(outputs, output_length, kept);
    shorten_rows(targets, output_length, kept);
    output_length = kept;
  }
}

std::int64_t Batch::evaluated_length(std::int64_t row, const TaskSizes& shape) const {
  if (form == TaskFormat::classification) return lengths[static_cast<std::size_t>(row)];
  const std::int64_t per_row = static_cast<std::int64_t>(targets.size()) / rows;
  const auto begin = targets.begin() + row * per_row;
  return per_row - std::count(begin, begin + per_row, ignored) - (shape.end >= 0 ? 1 : 0);
}

std::int64_t Batch::real_tokens() const {
  if (form == TaskFormat::image_classification) return rows;
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) +
         std::accumulate(output_lengths.begin(), output_lengths.end(), std::int64_t{0});
}

void Task::random_row(TaskFormat form, Split split, std::uint64_t seed, std::int64_t step, std::int64_t row,
                      Batch& batch, std::int64_t at) const {
  const RandomKey key{seed, Stream::random_evaluation, static_cast<std::uint64_t>(step)};
  const auto rows = static_cast<std::uint64_t>(evaluation_rows(form, split));
  evaluation_row(form, split, static_cast<std::int64_t>(below(key, static_cast<std::uint64_t>(row), rows)), batch, at);
}

std::string Task::fingerprint() const {
  std::string out = own_fingerprint();
  for (const NamedSet& set : sets_) out += fmt::format(" + {} {}", set.name, fingerprint_of(set.task->fingerprint()));
  return out;
}

const Task* Task::of_length(std::int64_t length) const {
  const std::scoped_lock lock(making_);
  const auto [place, is_new] = of_length_.try_emplace(length);
  if (!is_new) return place->second.get();
  try {
    place->second = make_of_length(length);
  } catch (...) {
    of_length_.erase(place);
    throw;
  }
  return place->second.get();
}

std::optional<Task::Level> loss_by_frequencies(std::span<const std::int64_t> training,
                                               std::span<const std::int64_t> validation, const std::string& what) {
  const auto total = [](std::span<const std::int64_t> counts) {
    return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  };
  const double trained = total(training), validated = total(validation);
  if (!(trained > 0) || !(validated > 0)) return std::nullopt;
  double loss = 0;
  for (std::size_t i = 0; i < validation.size(); ++i) {
    if (validation[i] == 0) continue;
    if (training[i] == 0) return std::nullopt;
    loss -= static_cast<double>(validation[i]) * std::log(static_cast<double>(training[i]) / trained);
  }
  return Task::Level{loss / validated, what + " by their frequencies in training"};
}

const TaskInfo& task_info(const std::string& kind) {
  if (const TaskInfo* info = find_variant(task_kinds(), kind)) return *info;
  throw Refused(fmt::format("[task] kind = \"{}\" is not a task; there are {}", kind,
                            names_of(variants_of(task_kinds()))));
}

std::unique_ptr<Task> make_task(const Config& config) {
  const TaskInfo& info = task_info(config.task.kind);
  std::unique_ptr<Task> task = info.make(config);
  for (const ValidationSet& set : validation_sets(config.data)) {
    Config with_set = config;
    with_set.of_set = set.path;
    try {
      std::unique_ptr<Task> of_set = info.make(with_set);
      require_same_tokens(*task, *of_set, set);
      task->add_set({set.name, std::move(of_set)});
    } catch (const Refused& refused) {
      throw Refused(fmt::format("validation set \"{}\": {}", set.name, refused.what()));
    }
  }
  return task;
}

} // namespace heed
