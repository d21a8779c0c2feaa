#include "experiments/command_line/sweep_start.hpp"

#include "autograd/error.hpp"
#include "experiments/command_line/console.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/engines/mpi.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/machine.hpp"
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

namespace {

bool agreed = false;

} // namespace

bool has_agreed_to_begin() { return agreed; }

void agree_to_begin(const ProcessGroupWord& own) {
  MpiRanks& ranks = mpi_ranks();
  agreed = true;
  constexpr char runs = 'r', helps = 'h', refuses = 'p';
  const char kind = !own.problem.empty() ? refuses : own.runs ? runs : helps;
  const std::vector<std::string> words =
      gather(ranks, Packed().add(kind).add_text(this_machine().host).add_text(own.problem).take());
  std::vector<char> kinds;
  std::string problem;
  for (std::size_t rank = 0; rank < words.size(); ++rank) {
    Unpacked word(words[rank]);
    kinds.push_back(word.get<char>());
    const std::string host = word.text(), said = word.text();
    if (!problem.empty() || said.empty()) continue;
    problem = rank == 0 ? said : fmt::format("process {} of {}, on {}: {}", rank, words.size(), host, said);
  }
  if (std::ranges::count(kinds, runs) == std::ssize(kinds)) return;
  ranks.finish();
  if (problem.empty() && std::ranges::count(kinds, runs) > 0)
    problem = fmt::format("{} of the {} processes that mpirun started have the option for help, the others do not; "
                          "give all processes the same command line",
                          std::ranges::count(kinds, helps), kinds.size());
  if (!problem.empty()) throw Refused(problem);
}

} // namespace heed
