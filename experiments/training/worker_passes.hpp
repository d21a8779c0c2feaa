// Runs a model's forward or forward and backward pass on a batch, with one tape and one batch buffer for each worker.
// Evaluation, introspection and training steps use it.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/shards.hpp"
#include "experiments/training/run_model.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// One tape and one batch buffer for each worker.
class WorkerPasses {
public:
  /// @param tapes  one for each worker, which provide the memory; if empty, this object makes its own
  WorkerPasses(RunModel& run, const ThreadPool& workers, std::span<const std::unique_ptr<Tape>> tapes = {})
      : run_(run), batches_(static_cast<std::size_t>(workers.most_threads())), tapes_(tapes) {
    while (tapes.empty() && own_.size() < batches_.size()) own_.push_back(std::make_unique<Tape>());
    if (tapes.empty()) tapes_ = own_;
  }

  std::span<const std::unique_ptr<Tape>> tapes() const { return tapes_; }
  Tape& tape(int worker) const { return *tapes_[static_cast<std::size_t>(worker)]; }
  /// A buffer for sequences that are needed only until the worker's next batch.
  Batch& batch(int worker) { return batches_[static_cast<std::size_t>(worker)]; }

  /// Runs a forward pass without gradients and calls use(logits). The pass's tensors are invalid afterwards.
  template <class Use> void evaluate(int worker, const Batch& batch, const Pass::Options& options, const Use& use) {
    Tape& on = tape(worker);
    on.rewind();
    on.record(false);
    Pass pass(on, run_.parameters, nullptr, options);
    use(run_.model->logits(pass, batch));
    on.record(true);
    on.rewind();
  }

  /// Returns the loss of the batch and writes its gradients to `gradients`, with the layout of the parameters.
  double gradients(int worker, const Batch& batch, const Pass::Options& options,
                   const CrossEntropyOptions& loss_options, Real* gradients) {
    Tape& on = tape(worker);
    on.rewind();
    Pass pass(on, run_.parameters, gradients, options);
    const Tensor loss = cross_entropy(run_.model->logits(pass, batch), batch.targets.data(), loss_options);
    on.backward(loss);
    pass.finish_gradients();
    return static_cast<double>(loss.item());
  }

private:
  RunModel& run_;
  std::vector<Batch> batches_;
  std::vector<std::unique_ptr<Tape>> own_;
  std::span<const std::unique_ptr<Tape>> tapes_;
};

} // namespace heed::HEED_REAL
