// What evaluation, introspection and a training step do with each batch: a pass through the model, on the tape of the
// worker that does it.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/shards.hpp"
#include "experiments/training/run_model.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// A tape for each worker.
class WorkerPasses {
public:
  /// @param tapes  one for each worker, whose memory is used; empty: it makes its own
  WorkerPasses(RunModel& run, const Workers& workers, std::span<const std::unique_ptr<Tape>> tapes = {})
      : run_(run), batches_(static_cast<std::size_t>(workers.threads())), tapes_(tapes) {
    while (tapes.empty() && own_.size() < batches_.size()) own_.push_back(std::make_unique<Tape>());
    if (tapes.empty()) tapes_ = own_;
  }

  std::span<const std::unique_ptr<Tape>> tapes() const { return tapes_; }
  Tape& tape(int worker) const { return *tapes_[static_cast<std::size_t>(worker)]; }
  /// For rows that are needed until the worker's next batch only.
  Batch& batch(int worker) { return batches_[static_cast<std::size_t>(worker)]; }

  /// use(logits): a pass without gradients. Tensors die with it.
  template <class Use> void evaluate(int worker, const Batch& batch, const Pass::Options& options, const Use& use) {
    Tape& on = tape(worker);
    on.rewind();
    on.record(false);
    Pass pass(on, run_.parameters, nullptr, options);
    use(run_.model->logits(pass, batch));
    on.record(true);
    on.rewind();
  }

  /// The loss of the batch, whose gradients are written to `gradients`, laid out as the parameters are.
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
