#include "experiments/command_line/trained_run.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/runs/checkpoint_average.hpp"

#include <fmt/format.h>
#include <ostream>

namespace heed {

TrainedRun trained_run(const std::string& out, const std::string& name, std::int64_t average, Console& console) {
  std::vector<std::string> damaged;
  const auto say = [&] {
    for (const std::string& what : damaged) console.err << "heed: " << what << "\n";
  };
  try {
    TrainedRun run = trained_run(find_run(out, name), average, damaged);
    say();
    return run;
  } catch (...) {
    say();  // why there may be none left
    throw;
  }
}

TrainedRun trained_run(const RunFolder& run, std::int64_t average, std::vector<std::string>& damaged) {
  const Config config = read_config(run);
  std::optional<KeptCheckpoint> kept = newest_checkpoint(run, &damaged);
  if (kept && average > 1) {
    damaged.clear();  // it names them again
    kept->checkpoint = average_of_newest(run, average, damaged);
  }
  if (!kept)
    throw Refused(fmt::format("run {} has no checkpoint yet (it is {}); train it first: heed run CONFIG", run.id(),
                              name_of(state_of(run))));
  std::unique_ptr<Task> task = make_task(config);
  // Another file gives another vocabulary, by which the run's tokens would be read as others.
  if (const auto manifest = read_manifest(run); manifest && !manifest->data.empty() &&
                                                manifest->data != task->fingerprint())
    throw Refused(fmt::format("the data of run {} is no longer what it was trained on ({}, and now {}); put the "
                              "original back{}",
                              run.id(), manifest->data, task->fingerprint(),
                              config.data.path.empty() ? "" : fmt::format(" at \"{}\"", config.data.path)));
  return {run.id(), config, std::move(task), std::move(kept->checkpoint)};
}

std::string average_in_words(std::int64_t average) {
  return average > 1 ? fmt::format(", the average of {} checkpoints", average) : "";
}

} // namespace heed
