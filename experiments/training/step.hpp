// One optimiser step: shards forward and backward, their sum, clipping, the update.
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

/// Into how many shards a step's batch is cut: train.shards, where a batch is known to have as many rows.
std::int64_t shards_of_step(const TrainOptions& options);

/// Of a team of several processes each has its share of the shards, and all have the same parameters and do the same
/// update.
class StepRunner {
public:
  StepRunner(const Config& config, const Task& task, RunModel& run, Optimizer& optimizer, Workers& workers);

  struct Result {
    double loss = 0;          ///< mean over the batch's targets, in nats; with label smoothing where it is set
    double gradient_norm = 0; ///< before clipping
    double learning_rate = 0;
    std::int64_t tokens = 0; ///< of the batch, padding not counted
  };

  /// Step `step`, counted from 0. Throws heed::Failed where the loss or a gradient is not finite, naming the operation
  /// that first made it so; the parameters are then those before the step.
  Result operator()(std::int64_t step);

  /// Of the last step, the whole batch's, before clipping; laid out as the parameters are.
  const Real* gradients() const { return gradients_[0].data(); }

  /// One for each thread; between steps others may use their memory.
  std::span<const std::unique_ptr<Tape>> tapes() const { return passes_.tapes(); }

private:
  void fill_batches(std::int64_t step);
  double sum_gradients();
  void share_rows(std::int64_t rows);
  double shard_loss(std::size_t shard, int worker, std::int64_t step, bool detect_anomaly);
  [[noreturn]] void diagnose(std::int64_t step, double loss, double norm);

  const Config& config_;
  const Task& task_;
  RunModel& run_;
  Optimizer& optimizer_;
  Workers& workers_;
  WorkerPasses passes_;
  std::pair<int, int> share_;                // of the shards, those of this process
  std::vector<PagedVector<Real>> gradients_; // one for each of these; one at least, for the sum
  std::vector<Real*> parts_;
  std::vector<Batch> batches_; // one for each shard
  struct Counts {
    std::int64_t targets = 0, tokens = 0;
  };
  std::vector<std::int64_t> first_rows_; // of each shard; some may be empty where rows are few
  std::vector<Counts> counts_;           // of each shard
  std::vector<double> losses_;
  double divisor_ = 1;
};

} // namespace heed::HEED_REAL
