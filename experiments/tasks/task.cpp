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

/// Shortens sequences of `from` values to their first `to` values, in place.
void shorten_sequences(std::vector<std::int32_t>& sequences, std::int64_t from, std::int64_t to) {
  const auto count = static_cast<std::int64_t>(sequences.size()) / from;
  for (std::int64_t r = 1; r < count; ++r) std::copy_n(sequences.begin() + r * from, to, sequences.begin() + r * to);
  sequences.resize(static_cast<std::size_t>(count * to));
}

std::int64_t longest(const std::vector<std::int32_t>& lengths) {
  return lengths.empty() ? 1 : std::max(1, std::ranges::max(lengths));
}

/// Throws heed::Refused if the set has classes or tokens that the task has not.
void require_same_tokens(const Task& task, const Task& of_set, const ValidationSet& set) {
  for (const TaskFormat format : {TaskFormat::language_model, TaskFormat::sequence_to_sequence,
                                  TaskFormat::classification, TaskFormat::image_classification}) {
    if (!task.refuses(format).empty()) continue;
    const TaskSizes all = task.sizes(format), own = of_set.sizes(format);
    if (all.vocabulary != own.vocabulary || all.classes != own.classes || !(all.image == own.image))
      throw Refused(
          fmt::format("[data] validation_sets: the sequences of \"{}\" have tokens, labels or sizes that those of "
                      "data.path have not; a set needs the same",
                      set.path));
  }
}

} // namespace

void Batch::reset(std::int64_t new_sequences, const TaskSizes& sizes, TaskFormat new_format) {
  sequences = new_sequences;
  format = new_format;
  const bool has_images = format == TaskFormat::image_classification,
             has_outputs = format == TaskFormat::sequence_to_sequence;
  length = has_images ? 0 : sizes.length;
  output_length = has_outputs ? sizes.output_length : 0;
  image = has_images ? sizes.image : ImageShape{};
  const auto sequence_count = static_cast<std::size_t>(sequences);
  const auto token_count = static_cast<std::size_t>(sequences * length);
  const auto output_count = static_cast<std::size_t>(sequences * output_length);
  tokens.assign(token_count, 0);
  lengths.assign(has_images ? 0 : sequence_count, 0);
  outputs.assign(output_count, 0);
  output_lengths.assign(has_outputs ? sequence_count : 0, 0);
  images.assign(static_cast<std::size_t>(sequences * image.size()), 0.0F);
  targets.assign(format == TaskFormat::language_model ? token_count
                 : has_outputs                        ? output_count
                                                      : sequence_count,
                 ignored);
}

void Batch::reset(std::int64_t new_sequences, std::int64_t new_length, TaskFormat new_format) {
  TaskSizes sizes;
  sizes.length = new_length;
  reset(new_sequences, sizes, new_format);
}

void Batch::trim() {
  if (const std::int64_t kept = longest(lengths); kept < length) {
    shorten_sequences(tokens, length, kept);
    if (format == TaskFormat::language_model) shorten_sequences(targets, length, kept);
    length = kept;
  }
  if (const std::int64_t kept = longest(output_lengths); kept < output_length) {
    shorten_sequences(outputs, output_length, kept);
    shorten_sequences(targets, output_length, kept);
    output_length = kept;
  }
}

std::int64_t Batch::evaluated_length(std::int64_t sequence, const TaskSizes& sizes) const {
  if (format == TaskFormat::classification) return lengths[static_cast<std::size_t>(sequence)];
  const std::int64_t per_sequence = static_cast<std::int64_t>(targets.size()) / sequences;
  const auto begin = targets.begin() + sequence * per_sequence;
  return per_sequence - std::count(begin, begin + per_sequence, ignored) - (sizes.end >= 0 ? 1 : 0);
}

std::int64_t Batch::real_tokens() const {
  if (format == TaskFormat::image_classification) return sequences;
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) +
         std::accumulate(output_lengths.begin(), output_lengths.end(), std::int64_t{0});
}

void Task::random_sequence(TaskFormat format, Split split, std::uint64_t seed, std::int64_t step, std::int64_t sequence,
                           Batch& batch, std::int64_t at) const {
  const RandomKey key{seed, Stream::random_evaluation, static_cast<std::uint64_t>(step)};
  const auto sequences = static_cast<std::uint64_t>(evaluation_sequences(format, split));
  evaluation_sequence(format, split,
                      static_cast<std::int64_t>(below(key, static_cast<std::uint64_t>(sequence), sequences)), batch,
                      at);
}

std::string Task::fingerprint() const {
  std::string out = own_fingerprint();
  for (const NamedSet& set : sets_) out += fmt::format(" + {} {}", set.name, fingerprint_of(set.task->fingerprint()));
  return out;
}

const Task* Task::of_length(std::int64_t length) const {
  const auto made = of_length_.lock();
  const auto [place, is_new] = made->try_emplace(length);
  if (!is_new) return place->second.get();
  try {
    place->second = make_of_length(length);
  } catch (...) {
    made->erase(place);
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

OptionCondition seed_of_splits() {
  return {"task.seed",
          "data.split_seed",
          {"-1"},
          false,
          {{"", "data.shuffle", {"false"}}, {"", "data.validation_path", {OptionCondition::anything}}}};
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
