// queued.json in a run's folder: the record that the run waits in a cluster's queue. The record can be out of date.
// Only the cluster knows whether the job still exists (launch/slurm_launcher.hpp).
#pragma once

#include "experiments/runs/run_folder.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace heed {

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
