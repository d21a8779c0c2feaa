#include "experiments/actions/status.hpp"

#include "autograd/error.hpp"
#include "experiments/actions/queue_report.hpp"
#include "experiments/config/config.hpp"
#include "experiments/index/run_entry.hpp"
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

#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace heed {

namespace {

/// Of the runs that train now and those that have not begun.
struct Speed {
  double steps_left = 0, steps_per_second = 0;
};

std::uint64_t& count_of(SweepStatus& status, RunState state) {
  switch (state) {
    case RunState::finished: return status.finished;
    case RunState::running: return status.running;
    case RunState::queued: return status.queued;
    case RunState::failed: return status.failed;
    case RunState::interrupted: return status.interrupted;
    case RunState::missing: break;
  }
  return status.missing;
}

/// The number of training steps of the run; 0 if this version does not understand its configuration.
std::int64_t steps_of(const PlannedRun& planned) {
  try {
    return config_of(planned).train.steps;
  } catch (const Refused&) {
    return 0;
  }
}

void snapshot_of(const RunFolder& run, RunState state, std::int64_t steps, const std::string& label,
                 const std::string& who, EntryReader& reader, Speed& speed, SweepLook& look) {
  const std::size_t index = look.board.size();
  look.board.push_back({label, steps, static_cast<double>(steps)});
  const bool ended = has_ended(state) || state == RunState::interrupted;
  if (const auto record = ended ? reader.read_record(run) : Parsed<RunRecord>::ok({});
      !record && !record.is_unreadable()) {
    ++look.status.left_out;
    look.status.excluded.push_back(fmt::format("{}: {}", who, record.error));
    look.events.push_back({RunEvent::Kind::skipped, index, {}, {}});
    return;
  }
  ++count_of(look.status, state);
  if (state == RunState::finished) {
    look.events.push_back({RunEvent::Kind::skipped, index, {}, {}});
    return;
  }
  if (state == RunState::failed) {
    const auto manifest = read_manifest(run);
    look.status.failures.push_back(fmt::format("{}: {}", who, manifest ? manifest->failure : manifest.error));
    look.events.push_back({RunEvent::Kind::failed, index, {}, {}});
    return;
  }
  speed.steps_left += static_cast<double>(steps);
  if (state == RunState::interrupted)
    if (const RunSnapshot now = snapshot_of_claimed(run); !now.unreadable.empty())
      look.status.unreadable.push_back(fmt::format("{}: {}", who, now.unreadable));
  if (state != RunState::running) return;
  look.events.push_back({RunEvent::Kind::started, index, {}, {}});
  const auto bytes = run.progress().read(largest_state);
  const auto progress = bytes ? progress_from_json(*bytes) : Parsed<Progress>::wrong("");
  if (!progress) return;
  look.events.push_back({RunEvent::Kind::progress, index, *progress, {}});
  speed.steps_left -= static_cast<double>(progress->step);
  speed.steps_per_second += progress->steps_per_second;
  look.status.running_now.push_back({.run = run.id(),
                                     .label = label,
                                     .step = progress->step,
                                     .steps = steps,
                                     .loss = progress->loss,
                                     .steps_per_second = progress->steps_per_second});
}

SweepLook snapshot_of(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder) {
  EntryReader reader;
  SweepLook look{.status = {.sweep = folder.filename().string(), .name = plan.name}};
  Speed speed;
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
    snapshot_of(folders[at], state, known->second, label, who, reader, speed, look);
    if (state == RunState::missing && finished.contains(run.id) && !folders[at].folder().exists())
      look.status.excluded.push_back(fmt::format("{}: it was finished, but its folder is missing", who));
  });
  look.status.runs = look.board.size();
  if (speed.steps_per_second > 0) look.status.seconds_left = speed.steps_left / speed.steps_per_second;
  return look;
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

} // namespace

StatusResult FolderLook::result() const {
  StatusResult out = status;
  for (const SweepLook& sweep : sweeps) out.sweeps.push_back(sweep.status);
  return out;
}

FolderLook look_at(const std::filesystem::path& out) {
  require_folder_of_runs(out);
  FolderLook look{.status = {.folder = out.string()}};
  // The queue is read first, because this also writes the outcome of queued runs to their folders.
  const std::string queue = queue_report(out, [&](const std::string& id) { return name_of_run(out, id); });
  for (const std::string& line : lines_of(queue))
    if (!line.empty()) look.status.queue.push_back(line);
  for (const std::filesystem::path& folder : sweep_folders(out)) try {
      look.sweeps.push_back(snapshot_of(load_plan(folder), out, folder));
    } catch (const Refused& error) {
      look.status.damaged.emplace_back(error.what());
    }
  look.status.runs = run_ids(out).size();
  return look;
}

} // namespace heed
