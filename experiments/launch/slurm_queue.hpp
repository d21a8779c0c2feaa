// What Slurm knows of the runs that were handed to it, and what their folders are told of that.
#pragma once

#include "experiments/runs/queue_mark.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// Runs that were handed to Slurm together, as one array of tasks: OUT/slurm/NAME/submission.json. A task is runs that
/// one job executes one after the other.
struct Submission {
  std::string name;                            ///< of the array in Slurm, too: by it, it is found
  std::string job;                             ///< the array's number; empty until Slurm has said it
  int threads = 1;                             ///< of each run
  std::string kernels = {};                    ///< as `Launcher::prefer_kernels` has it
  double seconds = 0;                          ///< the time limit of a task; 0: not known
  std::string command;                         ///< that submitted it
  std::vector<std::vector<std::string>> tasks; ///< of each its runs, by ID

  static OutputFile folder(const std::filesystem::path& out, const std::string& name);
  static OutputFile file(const std::filesystem::path& out, const std::string& name);
  /// What a task wrote, and Slurm about it.
  static OutputFile log(const std::filesystem::path& out, const std::string& name, std::int64_t task);
};
std::string to_json(const Submission& submission);
/// An error, too, where a name, a number of a job or the ID of a run is none: they become paths, and words of Slurm's
/// programs.
Parsed<Submission> submission_from_json(std::string_view bytes);

/// A task as Slurm has it.
struct SlurmTask {
  std::string job;    ///< "12_3"
  std::string state;  ///< Slurm's word: PENDING, RUNNING, COMPLETED, CANCELLED, TIMEOUT, ...
  std::string reason; ///< why it waits
  std::string nodes;  ///< where it runs

  /// It waits, runs, or will again.
  bool alive() const;
};

/// What the queue holds of some submissions. What ended long ago is forgotten there.
struct QueueSnapshot {
  std::string complaint;                                           ///< why Slurm did not answer; empty where it did
  std::map<std::pair<std::string, std::int64_t>, SlurmTask> tasks; ///< by submission and task

  const SlurmTask* find(const QueueMark& mark) const;
};
QueueSnapshot snapshot_of_queue(const std::set<std::string>& submissions);

/// A run and what its folder says of the queue.
struct QueuedRun {
  RunFolder run;
  QueueMark mark;
};

/// Compares a run's mark with the queue. Where the task is gone, and nobody has the run, its folder is told what ended
/// it: "cancelled", "out of time", "out of memory", "node failed", "preempted", "lost", ...
/// Returns the mark as it is then. Where the folder can't be written, the mark alone says so.
QueueMark settle_queue_mark(const std::filesystem::path& out, const QueuedRun& queued, const QueueSnapshot& look);

/// Heed's word for Slurm's state of a task that is over.
std::string ending_in_words(const std::string& state);

} // namespace heed
