// The runs from which the runs of a plan start ([train] start).
#include "experiments/sweep/preparation.hpp"

#include "autograd/error.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/tasks/vocabulary_text.hpp"

namespace heed {

Settings::Start Starts::find(const std::string& run) {
  if (out_.empty()) throw Refused("there is no output folder with runs here; leave train.start out");
  const StartRun& start = of(complete_id(out_, run));
  return {start.id, start.checksum};
}

const StartRun& Starts::of(const std::string& id) {
  const auto found = known_.find(id);
  if (found != known_.end()) return found->second;
  StartRun start = read_start(out_, id);
  for (StoredTensor& tensor : start.weights.tensors) tensor.bytes = {};
  return known_.emplace(id, std::move(start)).first->second;
}

std::optional<StartRecord> Starts::check(const Config& config, Tasks& tasks) {
  if (config.train.start.empty()) return std::nullopt;
  const auto data_of = [&](const Config& of) {
    const Task& task = tasks.of(of);
    return DataNow{task.fingerprint(), vocabulary_json(task, task_format_of(of))};
  };
  return check_start(config, of(config.train.start), engine(config).parameters(config, tasks.of(config)),
                     vocabulary_json(tasks.of(config), task_format_of(config)), data_of);
}

} // namespace heed
