#include "experiments/runs/checkpoints.hpp"

#include "experiments/system/text.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace heed {

namespace {
constexpr std::string_view checkpoint_prefix = "checkpoint-", checkpoint_suffix = ".safetensors";
std::optional<KeptCheckpoint> newest_whole(const RunFolder& run, CheckpointPart part, std::vector<std::string>* damaged,
                                           const CheckpointProblem& problem) {
  constexpr std::size_t most_named = 20;
  std::optional<KeptCheckpoint> found;
  std::size_t unnamed = 0;
  for (const std::int64_t step : checkpoint_steps(run)) {
    auto checkpoint = read_checkpoint(run, step, part);
    require_readable(checkpoint);
    std::string why = checkpoint ? problem(step, *checkpoint) : std::move(checkpoint.error);
    if (why.empty()) {
      found = KeptCheckpoint{step, std::move(*checkpoint)};
      break;
    }
    if (damaged && damaged->size() < most_named) damaged->push_back(std::move(why));
    else ++unnamed;
  }
  if (damaged && unnamed > 0)
    damaged->push_back(fmt::format("{} more checkpoints in '{}' can't be used", unnamed, run.path.string()));
  return found;
}

/// Writes the mean of the same tensor's values over all checkpoints into the first.
template <class Number> void average_numbers(StoredTensor& to, std::span<const StoredTensor* const> all) {
  const std::size_t count = to.bytes.size() / sizeof(Number);
  std::vector<double> sums(count, 0.0);
  for (const StoredTensor* tensor : all)
    for (std::size_t i = 0; i < count; ++i) {
      Number x = 0;
      std::memcpy(&x, tensor->bytes.data() + i * sizeof x, sizeof x);
      sums[i] += static_cast<double>(x);
    }
  for (std::size_t i = 0; i < count; ++i) {
    const auto mean = static_cast<Number>(sums[i] / static_cast<double>(all.size()));
    std::memcpy(to.bytes.data() + i * sizeof mean, &mean, sizeof mean);
  }
}

const StoredTensor& same_tensor(const Checkpoint& checkpoint, const StoredTensor& as) {
  for (const StoredTensor& t : checkpoint.tensors)
    if (t.name == as.name) {
      if (t.shape != as.shape || t.float64 != as.float64 || t.bytes.size() != as.bytes.size())
        throw Failed(fmt::format("[checkpoint] '{}' has another shape or type in another checkpoint", as.name));
      return t;
    }
  throw Failed(fmt::format("[checkpoint] '{}' is not in all of the checkpoints", as.name));
}

} // namespace

OutputFile RunFolder::checkpoint(std::int64_t step) const {
  return folder() / fmt::format("{}{:06}{}", checkpoint_prefix, step, checkpoint_suffix);
}

std::vector<std::int64_t> checkpoint_steps(const RunFolder& run) {
  std::vector<std::int64_t> steps;
  const auto names = run.folder().names();
  require_readable(names);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (!name.starts_with(checkpoint_prefix) || !name.ends_with(checkpoint_suffix)) continue;
    std::string_view number = name;
    number.remove_prefix(checkpoint_prefix.size());
    number.remove_suffix(checkpoint_suffix.size());
    if (const auto step = number_of<std::int64_t>(number); step && *step >= 0) steps.push_back(*step);
  }
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

void write_checkpoint(const RunFolder& run, std::int64_t step, const Checkpoint& checkpoint, std::int64_t keep) {
  // If the checkpoint survives a power failure, the metrics up to its step must survive too.
  run.metrics().synchronise();
  run.checkpoint(step).write(to_safetensors(checkpoint));
  const auto steps = checkpoint_steps(run);
  for (auto i = static_cast<std::size_t>(keep); i < steps.size(); ++i) run.checkpoint(steps[i]).remove();
}

Parsed<Checkpoint> read_checkpoint(const RunFolder& run, std::int64_t step, CheckpointPart part) {
  const auto file = run.checkpoint(step).open();
  if (!file) return Parsed<Checkpoint>::wrong(file.error, file.problem);
  auto checkpoint = read_safetensors(*file, part);
  if (checkpoint) {
    const auto stated = step_of(*checkpoint);
    if (!stated)
      return Parsed<Checkpoint>::wrong(fmt::format("'{}' is damaged: {}", run.checkpoint(step).string(), stated.error));
    if (*stated != step)
      return Parsed<Checkpoint>::wrong(fmt::format("'{}' is the checkpoint of step {}", run.checkpoint(step).string(),
                                                   *stated));
  } else if (!checkpoint.is_unreadable()) {
    checkpoint.error = fmt::format("'{}' is damaged: {}", run.checkpoint(step).string(), checkpoint.error);
  }
  return checkpoint;
}

std::optional<KeptCheckpoint> newest_checkpoint(const RunFolder& run, std::vector<std::string>* damaged,
                                                const CheckpointProblem& problem) {
  return newest_whole(run, CheckpointPart::all, damaged, problem);
}

std::optional<KeptCheckpoint> newest_weights(const RunFolder& run, std::vector<std::string>* damaged) {
  return newest_whole(run, CheckpointPart::weights, damaged, [](std::int64_t, const Checkpoint&) { return ""; });
}

Checkpoint average(std::span<const Checkpoint> newest_first) {
  Checkpoint out = newest_first.front();
  for (StoredTensor& tensor : out.tensors) {
    if (tensor.name.starts_with(optimizer_prefix)) continue;
    std::vector<const StoredTensor*> all;
    for (const Checkpoint& checkpoint : newest_first) all.push_back(&same_tensor(checkpoint, tensor));
    if (tensor.float64) average_numbers<double>(tensor, all);
    else average_numbers<float>(tensor, all);
  }
  return out;
}

Checkpoint average_of_newest(const RunFolder& run, std::int64_t count, std::vector<std::string>& damaged) {
  std::vector<Checkpoint> found;
  for (const std::int64_t step : checkpoint_steps(run)) {
    if (std::ssize(found) == count) break;
    auto checkpoint = read_checkpoint(run, step, CheckpointPart::weights);
    if (checkpoint) found.push_back(std::move(*checkpoint));
    else damaged.push_back(checkpoint.error);
  }
  if (std::ssize(found) < count)
    throw Refused(fmt::format("run {} has {} intact checkpoint{}, but the average needs {}{}", run.id(), found.size(),
                              plural(found.size()), count,
                              damaged.empty() ? "" : fmt::format(" ({})", fmt::join(damaged, "; "))));
  return average(found);
}

} // namespace heed
