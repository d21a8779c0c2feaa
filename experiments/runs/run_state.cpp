#include "experiments/runs/run_state.hpp"

#include "experiments/data/json_fields.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/metrics_file.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/system/bounds.hpp"
#include "experiments/system/lease.hpp"
#include "experiments/system/threads.hpp"

#include <boost/describe/enum.hpp>
#include <boost/describe/enum_to_string.hpp>
#include <utility>

namespace heed {

BOOST_DESCRIBE_ENUM(RunState, missing, queued, running, interrupted, failed, finished)

std::string_view name_of(RunState state) { return boost::describe::enum_to_string(state, "unknown"); }

bool has_ended(RunState state) { return state == RunState::finished || state == RunState::failed; }

RunSnapshot snapshot_of_claimed(const RunFolder& run) {
  RunSnapshot look;
  look.manifest = read_manifest(run);
  look.has_manifest = !look.manifest.is_missing();
  look.state = RunState::interrupted;
  if (look.manifest) {
    if (look.manifest->outcome == "failed") look.state = RunState::failed;
    if (look.manifest->outcome != "finished") return look;
    auto wrong = wrong_metrics(run, *look.manifest);
    if (!wrong) look.unreadable = std::move(wrong.error);
    else if (wrong->empty()) look.state = RunState::finished;
    else look.wrong_metrics = std::move(*wrong);
    return look;
  }
  if (look.manifest.is_unreadable()) look.unreadable = look.manifest.error;
  // Metrics and checkpoints show that something was executed, even if the manifest is missing or damaged.
  if (look.has_manifest || run.metrics().exists()) return look;
  try {
    if (checkpoint_steps(run).empty()) look.state = RunState::missing;
  } catch (const Unreadable& error) {
    look.unreadable = error.what();
  }
  return look;
}

namespace {

/// The snapshot of a run whose claim no process has.
RunSnapshot snapshot_of_unclaimed(const RunFolder& run) {
  RunSnapshot look = snapshot_of_claimed(run);
  if (look.state != RunState::finished && waits_in_queue(run)) look.state = RunState::queued;
  return look;
}

} // namespace

RunSnapshot snapshot_of(const RunFolder& run) {
  if (!Lease::held(run.claim())) return snapshot_of_unclaimed(run);
  RunSnapshot look = snapshot_of_claimed(run);
  look.state = RunState::running;
  return look;
}

RunState state_of(const RunFolder& run) {
  return Lease::held(run.claim()) ? RunState::running : snapshot_of_unclaimed(run).state;
}

std::vector<RunState> states_of(const std::vector<RunFolder>& runs) {
  std::vector<RunState> out(runs.size());
  for_each_in_threads(runs.size(), [&](std::size_t i) { out[i] = state_of(runs[i]); });
  return out;
}

RunState state_of_claimed(const RunFolder& run) { return snapshot_of_claimed(run).state; }

using namespace json_fields;

std::optional<QueueMark> read_queue_mark(const RunFolder& run) {
  const auto bytes = run.queued().read(largest_state);
  require_readable(bytes);
  if (!bytes) return std::nullopt;
  try {
    const json::value value = parsed(*bytes);
    const json::object& object = as_object(value, "it");
    QueueMark mark{text(object, "submission"), integer(object, "task"), integer(object, "begun"), text(object, "ended"),
                   text(object, "details")};
    // The name becomes the name of a folder and an argument of squeue.
    if (!is_submission_name(mark.submission) || mark.task < 0) return std::nullopt;
    return mark;
  } catch (const Wrong&) {
    return std::nullopt;
  }
}

void write_queue_mark(const RunFolder& run, const QueueMark& mark) {
  run.queued().write(one_line(json::object{{"submission", mark.submission},
                                           {"task", mark.task},
                                           {"begun", mark.begun},
                                           {"ended", mark.ended},
                                           {"details", mark.details}}) +
                         "\n",
                     Durability::process);
}

bool waits_in_queue(const RunFolder& run) try {
  const auto mark = read_queue_mark(run);
  return mark && mark->ended.empty();
} catch (const Unreadable&) {
  return true; // it may be waiting, and must not be submitted a second time
}

void leave_queue(const RunFolder& run) { run.queued().remove(); }

} // namespace heed
