#include "experiments/training/step.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/process_group.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

std::int64_t shards_of_step(const TrainOptions& options) {
  return options.sequences_by_task() ? options.shards : std::min(options.shards, options.batch);
}

StepRunner::StepRunner(const Config& config, const Task& task, RunModel& run, Optimizer& optimizer, ThreadPool& workers)
    : config_(config), task_(task), run_(run), optimizer_(optimizer), workers_(workers), passes_(run, workers) {
  const auto shards = static_cast<std::size_t>(shards_of_step(config.train));
  share_ = share_of(static_cast<int>(shards), workers, aligned_share);
  const auto own = static_cast<std::size_t>(share_.second - share_.first);
  gradients_.assign(std::max<std::size_t>(own, 1),
                    PagedVector<Real>(static_cast<std::size_t>(run.parameters.extent())));
  for (std::size_t i = 0; i < own; ++i) parts_.push_back(gradients_[i].data());
  batches_.resize(shards);
  counts_.resize(shards);
  losses_.resize(shards);
  first_sequences_.resize(shards + 1);
}

void StepRunner::share_sequences(std::int64_t sequences) {
  const auto shards = static_cast<std::int64_t>(batches_.size());
  for (std::int64_t s = 0; s <= shards; ++s) // sequences s B / S to (s + 1) B / S: sizes differ by at most one
    first_sequences_[static_cast<std::size_t>(s)] = s * sequences / shards;
}

double StepRunner::shard_loss(std::size_t shard, int worker, std::int64_t step, bool detect_anomaly) {
  PagedVector<Real>& gradients = gradients_[shard - static_cast<std::size_t>(share_.first)];
  if (batches_[shard].sequences == 0) {
    std::ranges::fill(gradients, Real{0});
    return 0;
  }
  passes_.tape(worker).detect_anomaly(detect_anomaly);
  return passes_.gradients(
      worker, batches_[shard],
      {.training = true, .seed = config_.dropout_seed(), .step = step, .first_sequence = first_sequences_[shard]},
      {.label_smoothing = static_cast<Real>(config_.train.label_smoothing),
       .ignore = ignored,
       .divisor = static_cast<Real>(divisor_)},
      gradients.data());
}

void StepRunner::fill_batches(std::int64_t step) {
  share_sequences(training_sequences(config_, task_, run_, step));
  workers_.run(share_, [&](int shard, int) {
    const auto s = static_cast<std::size_t>(shard);
    fill_training_batch(config_, task_, run_, step, first_sequences_[s], first_sequences_[s + 1] - first_sequences_[s],
                        batches_[s]);
    counts_[s] = {counted_targets(batches_[s]), batches_[s].real_tokens()};
  });
  exchange_values(workers_, counts_, aligned_share);
}

double StepRunner::sum_gradients() {
  const std::int64_t extent = run_.parameters.extent();
  return workers_.ranks() ? sum_parts_of_process_group(workers_, parts_, gradients_[0].data(),
                                                       static_cast<int>(batches_.size()), extent)
                          : sum_parts(workers_, parts_, extent);
}

StepRunner::Result StepRunner::operator()(std::int64_t step) {
  fill_batches(step);
  Result result;
  std::int64_t targets = 0;
  for (std::size_t s = 0; s < batches_.size(); ++s) {
    targets += counts_[s].targets;
    result.tokens += counts_[s].tokens;
  }
  divisor_ = static_cast<double>(std::max<std::int64_t>(targets, 1));
  workers_.run(
      share_,
      [&](int shard, int worker) {
        const auto s = static_cast<std::size_t>(shard);
        losses_[s] = shard_loss(s, worker, step, false);
      },
      static_cast<int>(gradients_.size()));
  exchange_values(workers_, losses_, aligned_share);
  for (double loss : losses_) result.loss += loss;
  result.gradient_norm = std::sqrt(sum_gradients());
  if (!std::isfinite(result.loss) || !std::isfinite(result.gradient_norm))
    diagnose(step, result.loss, result.gradient_norm);
  result.learning_rate = learning_rate(config_, step);
  const double factor = clip_factor(result.gradient_norm, config_.train.clip);
  const std::size_t entries = run_.parameters.entries().size();
  const auto pieces = std::min<std::size_t>(entries, static_cast<std::size_t>(workers_.threads()) * 4);
  workers_.run(static_cast<int>(pieces), [&](int job, int) {
    const auto j = static_cast<std::size_t>(job);
    optimizer_.update(run_.parameters, gradients(), result.learning_rate, factor, step + 1, j * entries / pieces,
                      (j + 1) * entries / pieces);
  });
  return result;
}

void StepRunner::diagnose(std::int64_t step, double loss, double norm) {
  // The parameters are still those before the step, so run it again and check every result.
  std::string found;
  for (int s = share_.first; s < share_.second && found.empty(); ++s) {
    try {
      shard_loss(static_cast<std::size_t>(s), 0, step, true);
    } catch (const Failed& e) {
      found = e.what();
    }
  }
  if (workers_.ranks()) {
    const std::vector<std::string> all = gather(*workers_.ranks(), std::move(found));
    const auto first = std::ranges::find_if(all, [](const std::string& one) { return !one.empty(); });
    found = first == all.end() ? "" : *first;
  }
  const std::string where = found.empty()
                                ? "no single operation's result shows it; the gradients' sum of squares overflows"
                                : found;
  throw Failed(fmt::format("step {}: the {} is not finite ({}). It first shows here: {}. Try a lower "
                           "train.learning_rate, train.clip = 1.0, or more train.warmup",
                           step + 1, std::isfinite(loss) ? "gradient norm" : "loss", std::isfinite(loss) ? norm : loss,
                           where));
}

} // namespace heed::HEED_REAL
