// What a run's folder says of a queue that the run waits in. It is the folder's word alone: the cluster knows whether
// what it names is still there (launch/slurm_launcher.hpp).
#pragma once

#include "experiments/runs/run_folder.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace heed {

/// queued.json. Whoever puts a run into a queue writes it, before; whoever brings the run to its end removes it.
struct QueueMark {
  std::string submission;   ///< the name that everything submitted with it has in the queue
  std::int64_t task = 0;    ///< which of the submission's tasks
  std::int64_t begun = 0;   ///< how often that task was begun anew, since it was requeued
  std::string ended = {};   ///< what took it out of the queue before its end: "cancelled", "out of time"; else empty
  std::string details = {}; ///< of that, in words
};

/// Nothing where there is none, or a damaged one, or where it names no submission (is_submission_name). Throws
/// heed::Unreadable where it can't be read now.
std::optional<QueueMark> read_queue_mark(const RunFolder& run);
/// Throws heed::Failed.
void write_queue_mark(const RunFolder& run, const QueueMark& mark);
/// Whether its folder has a mark that nothing ended, or one that can't be read now.
bool waits_in_queue(const RunFolder& run);
/// Removes the mark; one that is missing is fine. Throws heed::Failed.
void leave_queue(const RunFolder& run);

} // namespace heed
