// What a place has to supply for a sweep's runs to run there: processes on this machine, a cluster's queue.
#pragma once

#include "experiments/runs/run_folder.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heed {

/// How a worker ended, as its launcher saw it. What it made of its run stands in the run's folder.
struct WorkerEnd {
  std::size_t worker = 0;   ///< as `Launcher::start` called it
  int status = 0;           ///< its exit status (runs/worker.hpp), where it came to an end of its own
  std::string crash = {};   ///< else what ended it, in words; it could note nothing
  std::string failure = {}; ///< what it told of its failure, where the launcher hears it: a full disk takes no record
  bool by_stop = false;     ///< it crashed, since `Launcher::stop` reached it before it could listen
  std::string interruption = {}; ///< what took it away where it runs, in words; it goes on when it is started again
};

/// Starts workers (`heed worker FOLDER --threads N --kernels K`), each on one run's folder, and tells when they have ended. It
/// knows nothing of sweeps, nor of what a folder holds.
class Launcher {
public:
  virtual ~Launcher() = default;

  /// Starts a worker on a folder that is prepared, with its outputs going to the run's log.txt. Returns what to call it
  /// by, which no other worker of this launcher is called. Throws heed::Failed where none can be started.
  virtual std::size_t start(const RunFolder& run, int threads) = 0;
  /// Called once all are started that can be: a launcher that hands workers over together does so now.
  virtual void submit() {}
  /// Whether workers wait for their turn, go on when this process ends, and are found again by the next launcher of the
  /// kind. To stop such a sweep is to follow it no more.
  virtual bool outlives() const { return false; }
  /// Whether such a worker has the run, whoever started it: `start` then follows that one.
  virtual bool has(const RunFolder&) { return false; }
  /// Workers that have ended since the last call. Does not wait; called many times a second.
  virtual std::vector<WorkerEnd> ended() = 0;
  /// Waits for so long, or until a worker ends, where that can be seen.
  virtual void wait(std::chrono::milliseconds most) { std::this_thread::sleep_for(most); }
  /// Asks a worker to keep a checkpoint and end. `ended` tells of it as of any other.
  virtual void stop(std::size_t worker) = 0;

  /// Kernels that workers use from now on, where their machine has them; empty: those that are the fastest there.
  void prefer_kernels(std::string kernels) { kernels_ = std::move(kernels); }

protected:
  std::string kernels_;
};

} // namespace heed
