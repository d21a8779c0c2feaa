// The state of submitted runs in Slurm's queue, and the update of the marks in the runs' folders. Slurm's programs are
// called so that a user's own environment settings do not change their output.
#pragma once

#include "experiments/runs/run_state.hpp"
#include "experiments/system/child.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// Runs that were submitted to Slurm together, as one job array: OUT/slurm/NAME/submission.json. A task of the array is
/// a list of runs that one job executes one after the other.
struct Submission {
  std::string name;                            ///< also the array's name in Slurm, by which it is found
  std::string job;                             ///< the array's job number; empty until Slurm has returned it
  int threads = 1;                             ///< of each run
  std::string kernels = {};                    ///< as in `Launcher::prefer_instruction_set`
  double seconds = 0;                          ///< time limit of a task; 0: not known
  std::string command;                         ///< the command that submitted it
  std::vector<std::vector<std::string>> tasks; ///< for each task, the IDs of its runs

  static OutputFile folder(const std::filesystem::path& out, const std::string& name);
  static OutputFile file(const std::filesystem::path& out, const std::string& name);
  /// The output of a task, and Slurm's messages about it.
  static OutputFile log(const std::filesystem::path& out, const std::string& name, std::int64_t task);
};
std::string to_json(const Submission& submission);
/// Also an error if a name, a job number or a run ID is invalid, because they become parts of paths and arguments of
/// Slurm's programs.
Parsed<Submission> submission_from_json(std::string_view bytes);

/// A task in Slurm's queue.
struct SlurmTask {
  std::string job;    ///< "12_3"
  std::string state;  ///< Slurm's word: PENDING, RUNNING, COMPLETED, CANCELLED, TIMEOUT, ...
  std::string reason; ///< why it waits
  std::string nodes;  ///< the nodes on which it runs

  /// Whether it waits, runs, or will run again.
  bool alive() const;
};

/// The tasks of some submissions in the queue. Slurm forgets tasks that ended long ago.
struct QueueSnapshot {
  std::string complaint;                                           ///< why Slurm did not answer; empty if it answered
  std::map<std::pair<std::string, std::int64_t>, SlurmTask> tasks; ///< by submission and task

  const SlurmTask* find(const QueueMark& mark) const;
};
QueueSnapshot snapshot_of_queue(const std::set<std::string>& submissions);

/// A run and its mark.
struct QueuedRun {
  RunFolder run;
  QueueMark mark;
};

/// Compares a run's mark with the queue. If the task no longer exists and no process has the run, writes into the mark
/// why the task ended: "cancelled", "out of time", "out of memory", "node failed", "preempted", "lost", ... Returns the
/// new mark. If the folder can't be written, only the returned mark has the reason.
QueueMark settle_queue_mark(const std::filesystem::path& out, const QueuedRun& queued, const QueueSnapshot& look);

/// Heed's word for Slurm's state of a task that has ended.
std::string ending_in_words(const std::string& state);

/// run_child without the environment variables that replace options which Heed sets itself, or that change the output
/// (SQUEUE_FORMAT, SBATCH_ARRAY_INX, ...). Variables that say where a user's jobs run stay: SBATCH_ACCOUNT,
/// SBATCH_PARTITION, SBATCH_QOS and similar. Arguments on the command line take precedence over them.
ChildResult run_slurm(const std::vector<std::string>& words, std::string_view input = {});

/// Whether Slurm's programs get this environment variable.
bool is_for_slurm(std::string_view variable);

} // namespace heed
