// Metrics of decoded outputs: a model's own outputs, found by beam search, are compared with the correct ones.
#pragma once

#include "autograd/shards.hpp"
#include "experiments/training/run_model.hpp"

#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// Decodes the rows 0 to rows - 1 of a split and compares the outputs with the correct ones. Beam width and length
/// penalty are [train] evaluate_beam and evaluate_length_penalty. Returns PREFIX_decoded_accuracy (the fraction of
/// outputs without an error), PREFIX_bleu and PREFIX_chrf (of the texts, from 0 to 100). Rows are processed in pieces
/// of fixed size, so the results are bit-identical for any number of threads.
std::vector<std::pair<std::string, double>> decoded_metrics(const Config& config, const Task& task, RunModel& run,
                                                            Split split, const std::string& prefix, std::int64_t rows,
                                                            ThreadPool& workers);

} // namespace heed::HEED_REAL
