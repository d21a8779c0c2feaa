// Training of a run, and the engine functions cost, attention_cost, added_scores, queries_without_keys and generate.
#pragma once

#include "experiments/training/training.hpp"

namespace heed::HEED_REAL {

/// See Engine::train. Each batch is divided into config.train.shards shards. The result of a step depends only on the
/// configuration and the step's number, so a run that is continued from a checkpoint is bit-identical to an
/// uninterrupted run.
Outcome train(const Config& config, const Task& task, const std::optional<Checkpoint>& from,
              const TrainingHooks& hooks);

/// See Engine::cost. Runs and measures one step of one shard.
Cost cost(const Config& config, const Task& task);

/// See Engine::attention_cost.
AttentionCost attention_cost(const Config& config, std::int64_t length, double seconds);
/// See Engine::added_scores.
std::vector<AddedScores> added_scores(const Config& config, std::int64_t length, std::int64_t patches_in_row);

/// See Engine::queries_without_keys.
std::vector<QueryWithoutKeys> queries_without_keys(const Config& config, const Task& task);

/// See Engine::generate.
void generate(const Config& config, const Task& task, const Checkpoint& checkpoint, const Sampling& sampling);

} // namespace heed::HEED_REAL
