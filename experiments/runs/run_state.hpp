// A run's state (queued, running, finished, ...), as its folder shows it. queued.json there records that the run waits
// in a cluster's queue. The record can be out of date. Only the cluster knows whether the job still exists
// (launch/slurm_launcher.hpp).
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_records.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

enum class RunState { missing, queued, running, interrupted, failed, finished };
std::string_view name_of(RunState state);
/// Whether the run is finished or failed.
bool has_ended(RunState state);

/// `running` only while a process has the run's claim. `queued` while it waits in a cluster's queue, according to its
/// folder. A folder without an intact manifest is `missing` if nothing was executed in it yet. A run is `interrupted`
/// if its metrics differ from those at its end, because it can compute the lost lines again. A run is also
/// `interrupted` if its files can't be read at the moment (RunSnapshot::unreadable).
RunState state_of(const RunFolder& run);
/// The state of each run. Many runs are read in parallel.
std::vector<RunState> states_of(const std::vector<RunFolder>& runs);
/// The state in which the run was left, for the owner of its claim: never `running` or `queued`.
RunState state_of_claimed(const RunFolder& run);

/// A run's state with the records that determine it. Each record is read once.
struct RunSnapshot {
  RunState state = RunState::missing;
  bool has_manifest = false; ///< the file exists, intact or damaged
  Parsed<Manifest> manifest; ///< result of read_manifest
  std::string wrong_metrics; ///< result of wrong_metrics() (metrics_file.hpp)
  std::string unreadable;    ///< which file can't be read at the moment, and why; else empty
};
RunSnapshot snapshot_of(const RunFolder& run);
/// The snapshot for the owner of the claim: never `running` or `queued`.
RunSnapshot snapshot_of_claimed(const RunFolder& run);

/// The content of queued.json. It is written before the run is submitted to a queue. The process that finishes the run
/// removes it.
struct QueueMark {
  std::string submission;   ///< the submission's name in the queue, shared by all its tasks
  std::int64_t task = 0;    ///< the index of the task in the submission
  std::int64_t begun = 0;   ///< how often the task was started again after it was requeued
  std::string ended = {};   ///< why it left the queue before its end: "cancelled", "out of time"; else empty
  std::string details = {}; ///< details of `ended`, in words
};

/// None if the file is missing or damaged, or if it names no submission (is_submission_name). Throws heed::Unreadable
/// if it can't be read at the moment.
std::optional<QueueMark> read_queue_mark(const RunFolder& run);
/// Throws heed::Failed.
void write_queue_mark(const RunFolder& run, const QueueMark& mark);
/// Whether the run's folder has a mark with an empty `ended`, or one that can't be read at the moment.
bool waits_in_queue(const RunFolder& run);
/// Removes the mark if it exists. Throws heed::Failed.
void leave_queue(const RunFolder& run);

} // namespace heed
