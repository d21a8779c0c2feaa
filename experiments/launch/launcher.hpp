// Interface of a launcher, which starts a sweep's workers: as processes on this machine, or in a cluster's queue.
#pragma once

#include "experiments/runs/run_folder.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heed {

/// How a worker ended, as its launcher saw it. The result of the run is in the run's folder.
struct WorkerEnd {
  std::size_t worker = 0;        ///< as returned by `Launcher::start`
  int status = 0;                ///< its exit status (runs/worker.hpp), if it exited by itself
  std::string crash = {};        ///< otherwise the cause of its end, in words; it could record nothing
  std::string failure = {};      ///< its reason of failure, if the launcher gets it; a full disk stores no record
  bool by_stop = false;          ///< it crashed because `Launcher::stop` came before it handled signals
  std::string interruption = {}; ///< what removed it from its machine, in words; it continues when started again
};

/// Starts workers (`heed worker FOLDER --threads N --kernels K`), each for one run's folder, and reports when they have
/// ended. It knows nothing of sweeps and does not interpret the content of folders.
class Launcher {
public:
  virtual ~Launcher() = default;

  /// Starts a worker for a prepared folder, with its output in the run's log.txt. Returns the worker's number, which is
  /// unique in this launcher. Throws heed::Failed if no worker can be started.
  virtual std::size_t start(const RunFolder& run, int threads) = 0;
  /// Called after all workers that can start now are started. A launcher that submits workers together does so here. It
  /// may have to wait for another process first, until `stop_requested`. Returns the workers that it then gave up.
  virtual std::vector<std::size_t> submit(const std::function<bool()>& /*stop_requested*/) { return {}; }
  /// Whether workers wait in a queue, continue when this process ends, and are found again by the next launcher of the
  /// same type. Stopping such a sweep only stops following it.
  virtual bool outlives() const { return false; }
  /// Whether a worker of this type already has the run, even if another launcher started it. `start` then follows this
  /// worker.
  virtual bool has(const RunFolder&) { return false; }
  /// Workers that have ended since the last call. Does not wait; called many times a second.
  virtual std::vector<WorkerEnd> ended() = 0;
  /// Waits for at most this time, or until a worker ends if the launcher can notice it.
  virtual void wait(std::chrono::milliseconds most) { std::this_thread::sleep_for(most); }
  /// Allows a worker to use more threads from its next step on, if the launcher can tell it.
  virtual void allow_threads(std::size_t /*worker*/, int /*threads*/) {}
  /// Asks a worker to save a checkpoint and end. `ended` then reports it like any other.
  virtual void stop(std::size_t worker) = 0;

  /// Sets the instruction set of later workers, used if their machine supports it. Empty: the fastest on each machine.
  void prefer_instruction_set(std::string kernels) { kernels_ = std::move(kernels); }

  /// Sets the output folder with the runs from which later workers' runs start ([train] start), where it is not that of
  /// these runs. Only for workers on this machine.
  void find_starts_in(std::filesystem::path out) { starts_ = std::move(out); }

protected:
  std::string kernels_;
  std::filesystem::path starts_;
};

} // namespace heed
