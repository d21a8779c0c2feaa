// The segments of sequences of tokens, such as the documents of one text.
#pragma once

#include "autograd/real.hpp"
#include "experiments/tasks/task.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace heed::HEED_REAL {

/// Sets the sizes' tokens of [model] segment_end. Throws heed::Refused if the task's vocabulary does not have the
/// text.
void set_segment_ends(const Config& config, const Task& task, TaskFormat format, TaskSizes& sizes);

/// Writes the number of each token's segment, from 0. A segment ends with the tokens `end`, which belong to it; these
/// never overlap. So a sequence's first segments do not depend on its later tokens.
void write_segments(std::span<const std::int32_t> tokens, std::span<const std::int32_t> end, std::int32_t* to);

/// A note if no sequence has two segments, because the data never has [model] segment_end: "model.segment_end = ...
/// does not occur in ...". It reads the first sequences of validation and training, up to about a million tokens.
/// Empty: it occurs, or the configuration uses no segments.
std::string missing_segment_end(const Config& config, const Task& task);

} // namespace heed::HEED_REAL
