#include "experiments/command_line/superseded_sweep.hpp"

#include "autograd/error.hpp"
#include "experiments/command_line/fitted_message.hpp"
#include "experiments/command_line/print.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace heed {

std::optional<SupersededSweep> find_superseded_sweep(const Plan& plan, const std::filesystem::path& out) {
  if (is_frozen(plan, out)) return std::nullopt;
  for (const std::filesystem::path& folder : sweep_folders(out)) {
    try {
      Plan other = load_plan(folder);
      if (other.name == plan.name && (other.sweep || plan.sweep)) return SupersededSweep{folder, std::move(other)};
    } catch (const Refused&) {
      // An unreadable plan is skipped.
    }
  }
  return std::nullopt;
}

void report_superseded_sweep(const SupersededSweep& older, const Plan& plan, const std::filesystem::path& out,
                             Console& console) {
  std::size_t finished = 0, running = 0, shared = 0, shared_finished = 0;
  // Runs that both plans may contain: all planned runs, and all that tuning might choose.
  const std::vector<std::string> ours = run_ids(plan), theirs = run_ids(older.plan);
  for (const std::string& id : theirs) {
    const RunState state = state_of(RunFolder{out / id});
    finished += state == RunState::finished;
    running += state == RunState::running || state == RunState::queued;
    if (!std::ranges::binary_search(ours, id)) continue;
    ++shared;
    shared_finished += state == RunState::finished;
  }
  print(console.err, "{}\n",
        fitted(fmt::format("a new sweep: the configuration differs from the one of {}. That sweep stays as it is, with "
                           "{} finished{}.",
                           older.folder.string(), counted(finished, "run"),
                           running > 0 ? fmt::format(" and {} running", running) : ""),
               console));
  if (shared == 0) print(console.err, "The two have no run in common.\n");
  else
    print(console.err, "{}\n",
          fitted(fmt::format("{} of its {} are in this one, too, {} of them finished: they are not run again.", shared,
                             counted(theirs.size(), "run"), shared_finished),
                 console));
}

} // namespace heed
