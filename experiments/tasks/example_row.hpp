// Writes an example (input and output tokens) into a row of a batch, in each form.
#pragma once

#include "experiments/tasks/task.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed {

/// Marks an absent token.
inline constexpr std::int32_t no_token = -1;

/// The tokens that a row has in addition to its example; `no_token` for an absent one.
struct RowTokens {
  std::string_view task;             ///< the task's kind, for errors
  std::int32_t separator = no_token; ///< language_model: between input and output
  std::int32_t begin = no_token;     ///< sequence_to_sequence: the first token that the decoder reads
  std::int32_t end = no_token;       ///< ends the output, as its last target
  std::int32_t first_label = 0;      ///< classification: the output token of class 0
};

/// Writes row `at` of a batch that has been reset:
/// - language_model: the tokens are input, separator and output, without the last target;
/// - sequence_to_sequence: the input; the decoder reads begin and output; the targets are output and end;
/// - classification: the input; the class is the first output token.
/// Throws heed::Failed if the row does not fit.
/// @param counts  0 for output tokens that are not targets; empty: all are. The end token is always a target
void write_example(const RowTokens& with, TaskFormat form, std::span<const std::int32_t> input,
                   std::span<const std::int32_t> output, Batch& batch, std::int64_t at,
                   std::span<const std::int32_t> counts = {});

/// Writes row `at` of a language model's batch that has been reset: the tokens, and for each position its target or
/// `ignored`. Throws heed::Failed if the row does not fit.
void write_places(const std::string& task, std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets,
                  Batch& batch, std::int64_t at);

} // namespace heed
