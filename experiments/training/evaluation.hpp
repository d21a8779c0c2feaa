// How well a model does on a split.
#pragma once

#include "autograd/shards.hpp"
#include "experiments/training/run_model.hpp"

#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// PREFIX_loss (nats a token, the mean over all targets that count), PREFIX_accuracy (of the same targets), and, where a
/// task's rows are examples rather than windows of a text, PREFIX_sequence_accuracy (rows without an error).
/// At most `rows` rows; 0: all. Works through pieces of fixed size whose sums are added in order: the same bits whatever
/// the threads.
std::vector<std::pair<std::string, double>> evaluate_split(const Config& config, const Task& task, RunModel& run,
                                                           Split split, std::int64_t rows, Workers& workers);

} // namespace heed::HEED_REAL
