#include "experiments/command_line/trained_run.hpp"

#include "autograd/error.hpp"
#include "experiments/runs/run_store.hpp"

#include <fmt/format.h>
#include <ostream>

namespace heed {

TrainedRun trained_run(const std::string& out, const std::string& name, Console& console) {
  const RunFolder run = find_run(out, name);
  const Config config = read_config(run);
  std::vector<std::string> damaged;
  std::optional<KeptCheckpoint> kept = newest_checkpoint(run, &damaged);
  for (const std::string& what : damaged) console.err << "heed: " << what << "\n";
  if (!kept)
    throw Refused(fmt::format("run {} has no checkpoint yet (it is {}); train it first: heed run CONFIG", run.id(),
                              name_of(state_of(run))));
  return {run.id(), config, make_task(config), std::move(kept->checkpoint)};
}

} // namespace heed
