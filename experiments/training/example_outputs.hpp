// A model's outputs for the examples of a split, as text, and the probabilities of classes.
#pragma once

#include "autograd/shards.hpp"
#include "experiments/training/run_model.hpp"

#include <functional>
#include <vector>

namespace heed::HEED_REAL {

/// softmax(logits). Throws heed::Failed if a logit is not a finite number.
std::vector<double> class_probabilities(const Real* logits, std::int64_t classes);

/// See Engine::outputs. Calls `use` with the rows of the split in order.
void example_outputs(const Config& config, const Task& task, RunModel& run, Split split, ThreadPool& workers,
                     const std::function<void(const ExampleOutput&)>& use);

} // namespace heed::HEED_REAL
