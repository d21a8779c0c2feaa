// Work of the processes in a process group other than the first. The first process owns the run's folder
// (runs/worker.hpp) and tells the others which run to train.
#include "experiments/runs/worker.hpp"

#include "autograd/error.hpp"
#include "autograd/ranks.hpp"
#include "experiments/config/config.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/runs/run_start.hpp"

#include <fmt/format.h>
#include <optional>
#include <utility>

namespace heed {
namespace {

/// Returns the first process's message; `own` is empty in the other processes.
std::string hear(Ranks& ranks, std::string own) { return gather(ranks, std::move(own)).front(); }

std::optional<ProcessGroupRun> next_run(Ranks& ranks) {
  const std::string word = hear(ranks, {});
  Unpacked unpacked(word);
  const std::filesystem::path path = unpacked.text();
  if (path.empty()) return std::nullopt;
  const int threads = unpacked.get<int>();
  const auto step = unpacked.get<std::int64_t>();
  return ProcessGroupRun{RunFolder{path}, threads, step, unpacked.text()};
}

void train(Ranks& ranks, const ProcessGroupRun& part, const WorkerParts& parts) {
  Config config = read_config(part.run);
  if (part.threads > 0) config.train.threads = part.threads;
  const std::unique_ptr<Task> task = parts.make_task(config);
  if (run_id(config, task->fingerprint()) != part.run.id())
    throw Failed(fmt::format("'{}' holds a different run than the first process sees there, or the data differs: all "
                             "processes must see the same files",
                             part.run.path.string()));
  std::optional<Checkpoint> from;
  if (part.step >= 0) {
    auto checkpoint = read_checkpoint(part.run, part.step);
    if (!checkpoint) throw Failed(checkpoint.error);
    from = std::move(checkpoint.value);
  }
  // Not `auto`, because the processes may be on different CPU models.
  const Engine& engine = parts.engine(config, part.kernels);
  TrainingHooks hooks;
  hooks.ranks = &ranks;
  hooks.start = [&] { return take_start(part.run, config, *task, engine, parts).weights; };
  engine.train(config, *task, from, hooks);
}

} // namespace

void announce(Ranks& ranks, const ProcessGroupRun& part) {
  hear(ranks, Packed()
                  .add_text(std::filesystem::absolute(part.run.path).string())
                  .add(part.threads)
                  .add(part.step)
                  .add_text(part.kernels)
                  .take());
}

void announce_end(Ranks& ranks) { hear(ranks, Packed().add_text("").take()); }

void follow(Ranks& ranks, const WorkerParts& parts) {
  while (const auto part = next_run(ranks)) train(ranks, *part, parts);
}

} // namespace heed
