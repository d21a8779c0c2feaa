#include "experiments/tasks/example_sequence.hpp"

#include "autograd/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heed {

namespace {

void require_room(std::string_view task, std::int64_t tokens, std::int64_t length, const Batch& batch,
                  std::int64_t at) {
  if (at < 0 || at >= batch.sequences || tokens > length)
    throw Failed(fmt::format("[task.{}] an example of {} tokens does not fit as sequence {} of a batch [{}, {}]", task,
                             tokens, at, batch.sequences, length));
}

} // namespace

void write_example(const SequenceTokens& with, TaskFormat format, std::span<const std::int32_t> input,
                   std::span<const std::int32_t> output, Batch& batch, std::int64_t at,
                   std::span<const std::int32_t> counts) {
  const bool joined = format == TaskFormat::language_model;
  const auto outputs = static_cast<std::int64_t>(output.size());
  const std::int64_t predicted = outputs + (with.end == no_token ? 0 : 1);
  const std::int64_t prompt = static_cast<std::int64_t>(input.size()) + (joined && with.separator != no_token ? 1 : 0);
  const std::int64_t length = prompt + (joined ? predicted - 1 : 0);
  require_room(with.task, length, batch.length, batch, at);
  const std::int64_t sequence = at * batch.length;
  auto token = std::copy(input.begin(), input.end(), batch.tokens.begin() + sequence);
  batch.lengths[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(length);
  if (format == TaskFormat::classification) {
    batch.targets[static_cast<std::size_t>(at)] = output[0] - with.first_label;
    return;
  }
  auto target = batch.targets.begin() + sequence + prompt - 1;
  if (joined) {
    if (prompt > static_cast<std::int64_t>(input.size())) *token++ = with.separator;
    std::copy_n(output.begin(), predicted - 1, token);
  } else {
    require_room(with.task, predicted, batch.output_length, batch, at);
    const std::int64_t output_sequence = at * batch.output_length;
    auto read = batch.outputs.begin() + output_sequence;
    *read++ = with.begin;
    std::copy_n(output.begin(), predicted - 1, read);
    batch.output_lengths[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(predicted);
    target = batch.targets.begin() + output_sequence;
  }
  for (std::size_t i = 0; i < output.size(); ++i) *target++ = counts.empty() || counts[i] ? output[i] : ignored;
  if (with.end != no_token) *target = with.end;
}

void write_places(const std::string& task, std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets,
                  Batch& batch, std::int64_t at) {
  require_room(task, std::ssize(tokens), batch.length, batch, at);
  std::ranges::copy(tokens, batch.tokens.begin() + at * batch.length);
  std::ranges::copy(targets, batch.targets.begin() + at * batch.length);
  batch.lengths[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(tokens.size());
}

} // namespace heed
