#include "experiments/command_line/preparation.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/engines/mpi.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/sweep/plan_checks.hpp"
#include "experiments/system/machine.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/task_info.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>

namespace heed {

namespace {

/// Refuses overrides of tuned options, because each arm chooses their values itself.
void refuse_tuned_overrides(const Settings& settings, const std::vector<std::string>& overrides,
                            const std::string& where) {
  if (!settings.sweep().tune) return;
  for (const auto& [key, values] : settings.sweep().tune->axes)
    for (const std::string& assignment : overrides)
      if (assignment.substr(0, assignment.find('=')) == key)
        throw Refused(fmt::format("{}: [sweep.tune] tries values of {} ({}), so setting it does nothing; change the "
                                  "grid",
                                  where, key, values.front().origin.text()));
}

bool agreed = false;

} // namespace

Settings load_settings(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  Settings settings = Settings::load(file);
  if (!overrides.empty()) settings.override_with(overrides);
  return settings;
}

Preparation prepare(const std::filesystem::path& file, const std::vector<std::string>& overrides, Tasks& tasks,
                    const std::filesystem::path& out) {
  return prepare(Settings::load(file), without_controls(file.stem().string()), overrides, "command line", tasks, out);
}

Preparation prepare(Settings settings, const std::string& name, const std::vector<std::string>& overrides,
                    const std::string& where, Tasks& tasks, const std::filesystem::path& out) {
  if (!overrides.empty()) settings.override_with(overrides, where);
  refuse_tuned_overrides(settings, overrides, where);
  return prepare(std::move(settings), name, tasks, out);
}

ArmFacts facts_of(const Config& config, Tasks& tasks) {
  ArmFacts facts{chance_of(config, tasks), leakage_of(config, tasks)};
  for (const std::int64_t length : config.train.evaluate_lengths)
    if (const Task* task = tasks.of(config).of_length(length))
      facts.at_lengths[length] = task->chance(task_format_of(config));
  if (!task_info(config.task.kind).running_text)
    facts.examples = evaluated_sequences(config, tasks.of(config), task_format_of(config));
  return facts;
}

void check_sense(const Preparation& prepared, const std::filesystem::path& out, Console& console) {
  if (out.empty() || !is_frozen(prepared.plan, out)) refuse_unreachable(prepared);
  for (const std::string& note : notes_of(prepared)) print(console.err, "{}\n", fitted("heed: note: " + note, console));
  console.err.flush();
}

std::string size_in_words(const Plan& plan) {
  const std::string runs = counted(plan.runs.size(), "run");
  if (plan.runs.size() == 1 && !plan.tuning && !plan.variation) return runs;
  std::string text = fmt::format("{}: {}, {}", runs, counted(plan.arms.size(), "arm"),
                                 counted(plan.seeds.size(), "seed"));
  if (plan.tuning)
    text += fmt::format("; before them {}: {} of each arm, {}", counted(plan.tuning->runs.size(), "tuning run"),
                        counted(plan.tuning->arms.front().trials.size(), "trial"),
                        counted(plan.tuning->seeds.size(), "seed"));
  if (plan.variation)
    text += fmt::format("; and {} that vary {}", counted(plan.variation->runs.size(), "run"),
                        fmt::join(plan.variation->sources, ", "));
  return text;
}

std::string shell_words(const std::vector<std::string>& words) {
  static constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@+%";
  return joined(words, " ", [](const std::string& word) {
    return !word.empty() && word.find_first_not_of(plain) == std::string::npos ? word : in_shell_quotes(word);
  });
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
