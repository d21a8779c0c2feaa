#include "experiments/actions/sweep_start.hpp"

#include "autograd/error.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/plan_checks.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace heed {

std::vector<std::string> checked_notes(const Preparation& prepared, const std::filesystem::path& out) {
  if (out.empty() || !is_frozen(prepared.plan, out)) refuse_unreachable(prepared);
  return notes_of(prepared);
}

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

std::vector<std::string> superseded_in_words(const SupersededSweep& older, const Plan& plan,
                                             const std::filesystem::path& out) {
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
  const std::string first = fmt::format(
      "a new sweep: the configuration differs from the one of {}. That sweep stays as it is, with {} finished{}.",
      older.folder.string(), counted(finished, "run"), running > 0 ? fmt::format(" and {} running", running) : "");
  if (shared == 0) return {first, "The two have no run in common."};
  return {first, fmt::format("{} of its {} are in this one, too, {} of them finished: they are not run again.", shared,
                             counted(theirs.size(), "run"), shared_finished)};
}

std::string instruction_set_to_pin(bool on_other_machines) {
  if (usable_instruction_sets().size() == 1) return {};
  return on_other_machines ? common_instruction_set() : usable_instruction_sets().front();
}

std::string instruction_set_in_words(const Preparation& prepared, const std::string& pinned, bool on_other_machines) {
  const auto chooses = [](const PreparedArm& arm) { return arm.config.engine.kernels == "auto"; };
  if (std::ranges::none_of(prepared.arms, chooses)) return {};
  const std::string here = pinned.empty() ? own_instruction_set() : pinned;
  if (on_other_machines && here == "native")
    return "kernels: those of this build, for CPUs like this machine's; on other CPU models, results may differ in the "
           "last bits, or\n      the program may crash (illegal instruction). A build with -Dcpu=portable has kernels "
           "for all CPUs";
  if (on_other_machines && here == "baseline")
    return "kernels: baseline, in which BLAS multiplies as it does on each CPU, so different CPU models can give "
           "different bits";
  if (on_other_machines && !pinned.empty())
    return fmt::format("kernels: {} on every node, so results are bit-identical", pinned);
  if (!pinned.empty() && std::ranges::count(usable_instruction_sets(), pinned) == 0)
    return fmt::format("kernels: the sweep was started with {}, which this machine does not have; runs here use {}, so "
                       "their bits can differ",
                       pinned, usable_instruction_sets().front());
  return {};
}

} // namespace heed
