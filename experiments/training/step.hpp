// One optimiser step: forward and backward passes of the batch's shards, the sum of gradients, clipping and the update.
#pragma once

#include "autograd/optimizer.hpp"
#include "autograd/shards.hpp"
#include "experiments/training/run_model.hpp"
#include "experiments/training/worker_passes.hpp"

#include <memory>
#include <span>
#include <vector>

namespace heed {
struct TrainOptions;
}

namespace heed::HEED_REAL {

/// The number of shards of a step's batch: train.shards, or train.batch if that is smaller. If the batch size is not
/// fixed (TrainOptions::sequences_by_task), always train.shards.
std::int64_t shards_of_step(const TrainOptions& options);

/// In a process group, each process computes some of the shards. All processes have the same parameters and
/// do the same update.
class StepRunner {
public:
  StepRunner(const Config& config, const Task& task, RunModel& run, Optimizer& optimizer, ThreadPool& workers);

  struct Result {
    double loss = 0;          ///< mean over the batch's targets, in nats; includes label smoothing
    double gradient_norm = 0; ///< before clipping
    double learning_rate = 0;
    std::int64_t tokens = 0; ///< of the batch, without padding
  };

  /// Executes step `step`, counted from 0. Throws heed::Failed if the loss or a gradient is not finite, and names the
  /// operation that first produced such a value. The parameters are then those before the step.
  Result operator()(std::int64_t step);

  /// The whole batch's gradient of the last step, before clipping, with the layout of the parameters.
  const Real* gradients() const { return gradients_[0].data(); }

  /// One tape for each thread. Between steps, other code may use their memory.
  std::span<const std::unique_ptr<Tape>> tapes() const { return passes_.tapes(); }

private:
  void fill_batches(std::int64_t step);
  double sum_gradients();
  void share_sequences(std::int64_t sequences);
  double shard_loss(std::size_t shard, int worker, std::int64_t step, bool detect_anomaly);
  [[noreturn]] void diagnose(std::int64_t step, double loss, double norm);

  const Config& config_;
  const Task& task_;
  RunModel& run_;
  Optimizer& optimizer_;
  ThreadPool& workers_;
  WorkerPasses passes_;
  std::pair<int, int> share_;                // range of shards of this process
  std::vector<PagedVector<Real>> gradients_; // one for each shard of this process; at least one, for the sum
  std::vector<Real*> parts_;
  std::vector<Batch> batches_; // one for each shard
  struct Counts {
    std::int64_t targets = 0, tokens = 0;
  };
  std::vector<std::int64_t> first_sequences_; // of each shard; if there are few sequences, some shards are empty
  std::vector<Counts> counts_;                // of each shard
  std::vector<double> losses_;
  double divisor_ = 1;
};

} // namespace heed::HEED_REAL
