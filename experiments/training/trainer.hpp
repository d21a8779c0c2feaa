// The training loop.
#pragma once

#include "experiments/training/training.hpp"

namespace heed::HEED_REAL {

/// See Engine::train. Each batch is cut into config.train.shards shards; what a step computes depends on the
/// configuration and the step's number alone, so a run that goes on from a checkpoint ends in the same bits.
Outcome train(const Config& config, const Task& task, const std::optional<Checkpoint>& from,
              const TrainingHooks& hooks);

/// See Engine::cost: one step of one shard is run and measured.
Cost cost(const Config& config, const Task& task);

/// See Engine::attention_cost.
AttentionCost attention_cost(const Config& config, std::int64_t length, double seconds);

/// See Engine::generate.
void generate(const Config& config, const Task& task, const Checkpoint& checkpoint, const Sampling& sampling);

} // namespace heed::HEED_REAL
