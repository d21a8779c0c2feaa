// Who runs a sweep's runs. A sweep hands its runs to an executor and hears of what happens; where they run is the
// executor's business.
#pragma once

#include "experiments/runs/run_store.hpp"
#include "experiments/system/machine.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace heed {

/// Something happened to run `run` (an index into what was handed over).
struct RunEvent {
  enum class Kind {
    skipped,       ///< finished before; nothing was done
    elsewhere,     ///< another process runs it; it is looked at again later
    started,
    progress,      ///< `progress` holds the newest
    finished,
    failed,        ///< `reason` says why
    interrupted,   ///< stopped with a checkpoint kept
  };
  Kind kind = Kind::started;
  std::size_t run = 0;
  Progress progress;
  std::string reason;
};

struct Executed {
  std::size_t skipped = 0, finished = 0, failed = 0;
  std::size_t interrupted = 0;     ///< of those that were started
  std::size_t remaining = 0;       ///< never started, since it was stopped
  bool all_done() const { return failed + interrupted + remaining == 0; }
};

class Executor {
public:
  virtual ~Executor() = default;

  /// Executes the runs, whose folders are prepared (`prepare_run`), in their order; those that are finished are
  /// skipped, those that were interrupted or failed go on from their checkpoints. One that fails stops no other.
  /// @param on_event        called from this thread
  /// @param stop_requested  asked often; once true, running ones keep a checkpoint and end, and no more are started
  virtual Executed execute(std::span<const RunFolder> runs, const std::function<void(const RunEvent&)>& on_event,
                           const std::function<bool()>& stop_requested) = 0;
};

/// Each run in a process of its own on this machine: `PROGRAM worker FOLDER --threads N`, outputs to the run's log.txt.
/// A process that crashes takes nothing with it; should this one die, they keep their checkpoints and end.
class LocalExecutor : public Executor {
public:
  LocalExecutor(std::filesystem::path program, int jobs, int threads);
  Executed execute(std::span<const RunFolder> runs, const std::function<void(const RunEvent&)>& on_event,
                   const std::function<bool()>& stop_requested) override;

private:
  std::filesystem::path program_;
  int jobs_, threads_;
};

/// How many runs at once, and how many threads each has: runs side by side beat one run with many threads.
struct Share {
  int jobs = 1, threads = 1;
};
/// @param runs           how many there are to do
/// @param bytes_per_run  of memory, about
/// @param jobs, threads  what was asked for; 0: find out
Share share_machine(const Machine& machine, std::size_t runs, double bytes_per_run, int jobs = 0, int threads = 0);

} // namespace heed
