// How an example of input and output becomes a row of a batch, in each form.
#pragma once

#include "experiments/tasks/task.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed {

/// Stands for a token that there is not.
inline constexpr std::int32_t no_token = -1;

/// The tokens that a row has besides its example; `no_token` where it goes without.
struct RowTokens {
  std::string_view task;             ///< the task's kind, for errors
  std::int32_t separator = no_token; ///< language_model: between input and output
  std::int32_t begin = no_token;     ///< sequence_to_sequence: what the decoder reads first
  std::int32_t end = no_token;       ///< ends the output as its last target
  std::int32_t first_label = 0;      ///< classification: the output token of class 0
};

/// Writes row `at` of a batch that has been reset:
/// - language_model: input, separator, output as tokens, without the last target;
/// - sequence_to_sequence: input; begin and output as what the decoder reads; output and end as its targets;
/// - classification: input; the first output token as the class.
/// Throws heed::Failed where the row does not fit.
/// @param counts  output tokens that are no target are 0 here; empty: all are. What ends the output always is
void write_example(const RowTokens& with, Form form, std::span<const std::int32_t> input,
                   std::span<const std::int32_t> output, Batch& batch, std::int64_t at,
                   std::span<const std::int32_t> counts = {});

/// Writes row `at` of a language model's batch that has been reset: tokens, and the target of each place, or `ignored`.
/// Throws heed::Failed where the row does not fit.
void write_places(const std::string& task, std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets,
                  Batch& batch, std::int64_t at);

} // namespace heed
