#include "experiments/actions/trained_run.hpp"

#include "autograd/error.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {

namespace {

/// Explains how to get `count` checkpoints of a run that has saved fewer. The number of saved checkpoints changes no
/// result, so it is not part of the run's ID. Therefore `heed run` in the same output folder would treat the run as
/// finished.
std::string how_to_keep(const RunFolder& run, const Config& config, std::int64_t count, const std::string& program) {
  const std::int64_t steps = config.train.steps;
  if (count > steps) return fmt::format("; it trains for {} steps, and saves at most one checkpoint per step", steps);
  const std::int64_t every = std::max<std::int64_t>(1, steps / std::max<std::int64_t>(20, 2 * count));
  const std::string out = run.path.parent_path().string(), other = (out.empty() ? "runs" : out) + "-average";
  return fmt::format(
      "; train it again, in a separate folder, and use it there:\n"
      "      {}\n"
      "      {}",
      shell_words({program, "run", run.config().string(), fmt::format("train.checkpoint_every={}", every),
                   fmt::format("train.keep_checkpoints={}", count), "--out", other}),
      shell_words({program, "evaluate", run.id(), "--average", fmt::format("{}", count), "--out", other}));
}

/// @param damaged  a sentence for each damaged checkpoint; the first moves into the error
[[noreturn]] void refuse_without_checkpoint(const RunFolder& run, std::vector<std::string>& damaged) {
  const RunState state = state_of(run);
  if (damaged.empty())
    throw Refused(fmt::format("run {} (it is {}) has no checkpoint yet; train it first: heed run CONFIG", run.id(),
                              name_of(state)));
  const std::string newest = std::move(damaged.front());
  damaged.erase(damaged.begin());
  // A finished run counts as done, so it is not computed again while its folder exists.
  throw Refused(
      fmt::format("run {} (it is {}) has no intact checkpoint: {}{}; to compute it again, {}heed run CONFIG", run.id(),
                  name_of(state), newest, damaged.empty() ? "" : fmt::format(" (and {} older, too)", damaged.size()),
                  state == RunState::finished ? fmt::format("remove the folder '{}', then: ", run.path.string()) : ""));
}

} // namespace

TrainedRun trained_run(const RunFolder& run, std::int64_t average, std::vector<std::string>& damaged,
                       const std::string& program) {
  const Config config = read_config(run);
  Checkpoint weights = trained_weights(run, config, average, damaged, program);
  return {run.id(), config, task_of_run(run, config), std::move(weights), instruction_set_of_run(run, config)};
}

Checkpoint trained_weights(const RunFolder& run, const Config& config, std::int64_t average,
                           std::vector<std::string>& damaged, const std::string& program) {
  std::optional<KeptCheckpoint> kept = newest_weights(run, &damaged);
  if (kept && average > 1) {
    damaged.clear(); // the next call reports them again
    try {
      kept->checkpoint = average_of_newest(run, average, damaged);
    } catch (const Refused& refused) {
      damaged.clear(); // the error has them
      throw Refused(refused.what() + how_to_keep(run, config, average, program));
    }
  }
  if (!kept) refuse_without_checkpoint(run, damaged);
  return std::move(kept->checkpoint);
}

std::unique_ptr<Task> task_of_run(const RunFolder& run, const Config& config) {
  std::unique_ptr<Task> task = make_task(config);
  require_data_of_run(run, config, *task);
  return task;
}

void require_data_of_run(const RunFolder& run, const Config& config, const Task& task) {
  // A different file gives a different vocabulary, so the run's tokens would be misinterpreted.
  const auto manifest = read_manifest(run);
  if (manifest && !manifest->data.empty() && manifest->data != task.fingerprint())
    throw Refused(fmt::format("the data of run {} has changed since its training ({}, and now {}); restore the "
                              "original data{}",
                              run.id(), manifest->data, task.fingerprint(),
                              config.data.path.empty() ? "" : fmt::format(" at \"{}\"", config.data.path)));
}

std::string instruction_set_of_run(const RunFolder& run, const Config& config) {
  const auto manifest = read_manifest(run);
  return instruction_set_of(config, {manifest ? manifest->build.kernels : ""});
}

std::string example_as_input(const Config& config, const Task& task, std::int64_t number, const std::string& option) {
  const TaskFormat format = task_format_of(config);
  const std::int64_t examples = task.evaluation_sequences(format, Split::validation);
  if (number < 0 || number >= examples)
    throw Refused(fmt::format("{} {}: the validation split has examples 0 to {}", option, number, examples - 1));
  if (format == TaskFormat::image_classification) return fmt::format("row {}", number);
  Batch batch;
  batch.reset(1, task.sizes(format), format);
  task.evaluation_sequence(format, Split::validation, number, batch, 0);
  task.require_whole();
  return task.decode(std::span(batch.tokens).first(static_cast<std::size_t>(batch.lengths[0])));
}

std::string average_in_words(std::int64_t average) {
  return average > 1 ? fmt::format(", the average of {} checkpoints", average) : "";
}

} // namespace heed
