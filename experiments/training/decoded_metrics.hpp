// A model's own outputs, found by beam search: as text for the examples of a split, with the probabilities of classes,
// and compared with the correct ones by metrics.
#pragma once

#include "autograd/shards.hpp"
#include "experiments/training/run_model.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// Decodes the sequences 0 to sequences - 1 of a split and compares the outputs with the correct ones. Beam width and
/// length penalty are [train] evaluate_beam and evaluate_length_penalty. Returns PREFIX_decoded_accuracy (the fraction
/// of outputs without an error), PREFIX_bleu and PREFIX_chrf (of the texts, from 0 to 100). Sequences are processed in
/// pieces of fixed size, so the results are bit-identical for any number of threads.
std::vector<std::pair<std::string, double>> decoded_metrics(const Config& config, const Task& task, RunModel& run,
                                                            Split split, const std::string& prefix,
                                                            std::int64_t sequences, ThreadPool& workers);

/// softmax(logits). Throws heed::Failed if a logit is not a finite number.
std::vector<double> class_probabilities(const Real* logits, std::int64_t classes);

/// See Engine::outputs. Calls `use` with the sequences of the split in order.
void example_outputs(const Config& config, const Task& task, RunModel& run, Split split, ThreadPool& workers,
                     const std::function<void(const ExampleOutput&)>& use);

} // namespace heed::HEED_REAL
