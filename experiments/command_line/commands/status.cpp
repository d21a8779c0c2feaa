// heed status: shows the sweeps and runs in an output folder, and the progress of the runs that are running now.
#include "autograd/error.hpp"
#include "experiments/actions/progress_board.hpp"
#include "experiments/actions/queue_report.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/config/config.hpp"
#include "experiments/index/run_entry.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/sweep/history.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/sweep/variation.hpp"
#include "experiments/system/bounds.hpp"
#include "experiments/system/failure.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace heed {

namespace {

constexpr std::array states{RunState::finished, RunState::running,     RunState::queued,
                            RunState::failed,   RunState::interrupted, RunState::missing};

struct StatusArguments {
  std::string out = "runs";
};

/// The state of a sweep on the disk now.
struct Look {
  std::array<std::size_t, states.size()> counts{};
  std::vector<BoardRun> board;
  std::vector<RunEvent> events; ///< the events by which `heed run` would have learned of this state
  double steps_left = 0, steps_per_second = 0;
  std::vector<std::string> failed;     ///< one sentence for each failed run
  std::vector<std::string> unreadable; ///< one for each run with a file that can't be read now
  std::size_t left_out = 0;
  /// One for each run that reports exclude, and for each finished run whose folder is gone.
  std::vector<std::string> lost;
};

/// The number of training steps of the run; 0 if this version does not understand its configuration.
std::int64_t steps_of(const PlannedRun& planned) {
  try {
    return config_of(planned).train.steps;
  } catch (const Refused&) {
    return 0;
  }
}

void snapshot_of(const RunFolder& run, RunState state, std::int64_t steps, const std::string& label,
                 const std::string& who, EntryReader& reader, Look& look) {
  const std::size_t index = look.board.size();
  look.board.push_back({label, steps, static_cast<double>(steps)});
  const bool ended = has_ended(state) || state == RunState::interrupted;
  if (const auto record = ended ? reader.read_record(run) : Parsed<RunRecord>::ok({});
      !record && !record.is_unreadable()) {
    ++look.left_out;
    look.lost.push_back(fmt::format("{}: {}", who, record.error));
    look.events.push_back({RunEvent::Kind::skipped, index, {}, {}});
    return;
  }
  for (std::size_t i = 0; i < states.size(); ++i)
    if (states[i] == state) ++look.counts[i];
  if (state == RunState::finished) {
    look.events.push_back({RunEvent::Kind::skipped, index, {}, {}});
    return;
  }
  if (state == RunState::failed) {
    const auto manifest = read_manifest(run);
    look.failed.push_back(fmt::format("{}: {}", who, manifest ? manifest->failure : manifest.error));
    look.events.push_back({RunEvent::Kind::failed, index, {}, {}});
    return;
  }
  look.steps_left += static_cast<double>(steps);
  if (state == RunState::interrupted)
    if (const RunSnapshot now = snapshot_of_claimed(run); !now.unreadable.empty())
      look.unreadable.push_back(fmt::format("{}: {}", who, now.unreadable));
  if (state != RunState::running) return;
  look.events.push_back({RunEvent::Kind::started, index, {}, {}});
  const auto bytes = run.progress().read(largest_state);
  const auto progress = bytes ? progress_from_json(*bytes) : Parsed<Progress>::wrong("");
  if (!progress) return;
  look.events.push_back({RunEvent::Kind::progress, index, *progress, {}});
  look.steps_left -= static_cast<double>(progress->step);
  look.steps_per_second += progress->steps_per_second;
}

Look snapshot_of(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder) {
  EntryReader reader;
  Look look;
  const std::set<std::string> finished = recorded_as_finished(folder);
  std::map<std::pair<std::size_t, const Trial*>, std::int64_t> steps; // all seeds have the same steps
  std::vector<RunFolder> folders;
  const std::vector<std::string> labels = named_labels(plan, config_of(plan.runs.at(plan.arms.front().runs.front())));
  each_run(plan, [&](const PlannedRun& run, const Trial*) { folders.push_back({out / run.id}); });
  const std::vector<RunState> all_states = states_of(folders);
  const VariationLabels variation(plan);
  each_run(plan, [&](const PlannedRun& run, const Trial* trial) {
    const std::size_t at = look.board.size();
    const std::string stage = trial ? fmt::format("tuning {}: ", short_words(*trial)) : "";
    const std::string seed = fmt::format("seed {}", run.seed);
    const std::string label = stage + variation.before(run) +
                              (labels.size() == 1 ? seed : fmt::format("{}, {}", labels.at(run.arm), seed));
    const auto [known, is_new] = steps.try_emplace({run.arm, trial}, 0);
    if (is_new) known->second = steps_of(run);
    const std::string who = fmt::format("{}, {} ({})", plan.name, label, run.id);
    const RunState state = run.id.empty() ? RunState::missing : all_states[at];
    snapshot_of(folders[at], state, known->second, label, who, reader, look);
    if (state == RunState::missing && finished.contains(run.id) && !folders[at].folder().exists())
      look.lost.push_back(fmt::format("{}: it was finished, but its folder is missing", who));
  });
  return look;
}

/// The progress display of `heed run`: the bar, the finished part, the time left, and each running run.
std::string board_of(const Look& look, std::size_t width) {
  ProgressBoard board(look.board, 0);
  for (const RunEvent& event : look.events) board.take(event, 0);
  if (look.steps_per_second > 0) board.know_left(look.steps_left / look.steps_per_second);
  std::string text;
  for (const std::string& line : board.lines(0, width)) text += line + "\n";
  return text;
}

/// The run's name in its sweep, followed by its ID.
std::string name_of_run(const std::filesystem::path& out, const std::string& id) {
  for (const std::filesystem::path& folder : sweep_folders(out)) try {
      const Plan plan = load_plan(folder);
      for (const PlannedRun& run : final_runs(plan))
        if (run.id == id)
          return fmt::format("{}, {}{}seed {} ({})", plan.name, VariationLabels(plan).before(run),
                             plan.arms.size() == 1 ? "" : plan.arms.at(run.arm).label + ", ", run.seed, id);
    } catch (const Refused&) {
      // The damaged plan is reported elsewhere.
    }
  return id;
}

int status(const StatusArguments& arguments, Console& console) {
  const std::filesystem::path out = arguments.out;
  require_folder_of_runs(out);
  // The queue is read first, because this also writes the outcome of queued runs to their folders.
  const std::string queue = queue_report(out, [&](const std::string& id) { return name_of_run(out, id); });
  TextTable table{{"sweep", "runs"}, {Align::left, Align::right}, {}};
  for (const RunState state : states) table.add_column(std::string(name_of(state)));
  std::vector<std::size_t> left_out_of; // for each row of the table
  std::string running;
  std::vector<std::string> failed, unreadable, lost, damaged;
  for (const std::filesystem::path& folder : sweep_folders(out)) {
    Plan plan;
    try {
      plan = load_plan(folder);
    } catch (const Refused& error) {
      damaged.emplace_back(error.what());
      continue;
    }
    const Look look = snapshot_of(plan, out, folder);
    if (look.counts[1] > 0)
      running += fmt::format("\n{}\n{}", console.out_style.bold(cut(plan.name)), board_of(look, console.width - 1));
    failed.insert(failed.end(), look.failed.begin(), look.failed.end());
    unreadable.insert(unreadable.end(), look.unreadable.begin(), look.unreadable.end());
    lost.insert(lost.end(), look.lost.begin(), look.lost.end());
    std::vector<std::string> row{folder.filename().string(), fmt::format("{}", look.board.size())};
    for (const std::size_t n : look.counts) row.push_back(fmt::format("{}", n));
    left_out_of.push_back(look.left_out);
    table.rows.push_back(std::move(row));
  }
  if (std::ranges::any_of(left_out_of, [](std::size_t n) { return n > 0; })) {
    table.add_column("left out");
    for (std::size_t i = 0; i < table.rows.size(); ++i) table.rows[i].push_back(fmt::format("{}", left_out_of[i]));
  }
  const std::size_t runs = run_ids(out).size();
  print(console.out, "{}  {} run{}\n", arguments.out, runs, plural(runs));
  if (!table.rows.empty()) console.out << "\n" << to_text(table);
  if (!running.empty()) console.out << running;
  if (!queue.empty()) console.out << "\n" << console.out_style.bold("Slurm") << "\n" << queue;
  for (const auto& [heading, sentences] : {std::pair{"failed", &failed},
                                           {"unreadable now", &unreadable},
                                           {"excluded from reports", &lost},
                                           {"damaged", &damaged}})
    if (!sentences->empty())
      console.out << "\n" << console.out_style.red(heading) << "\n" << first_lines(*sentences, "  ");
  return 0;
}

} // namespace

void add_status(Commands& commands) {
  add_command<StatusArguments>(
      commands, "status", "list the sweeps and runs of a folder, and their progress",
      "Example, from another terminal while a sweep runs:\n"
      "  heed status runs",
      [](Command& command, StatusArguments& arguments) { add_output_folder(command, arguments.out); }, status);
}

} // namespace heed
