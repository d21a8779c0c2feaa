// How well a model does when it goes by its own outputs, and not by the right ones.
#pragma once

#include "autograd/shards.hpp"
#include "experiments/training/run_model.hpp"

#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// The rows 0 to rows - 1 of a split are decoded, with the beam and the length penalty of [train] evaluate_beam and
/// evaluate_length_penalty, and compared with what they should be: PREFIX_decoded_accuracy (the fraction without an
/// error), PREFIX_bleu and PREFIX_chrf (of their texts; 0 to 100). Works through pieces of fixed size: the same bits
/// whatever the threads.
std::vector<std::pair<std::string, double>> decoded_metrics(const Config& config, const Task& task, RunModel& run,
                                                            Split split, const std::string& prefix, std::int64_t rows,
                                                            Workers& workers);

} // namespace heed::HEED_REAL
