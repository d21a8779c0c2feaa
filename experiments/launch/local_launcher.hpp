// Launches workers as processes on this machine.
#pragma once

#include "experiments/launch/launcher.hpp"
#include "experiments/system/descriptor.hpp"

#include <filesystem>
#include <memory>

namespace heed {

/// Each worker is a separate process. A crash of one does not affect the others. If this process dies, the workers save
/// their checkpoints and end. The destructor kills workers that are still running.
class LocalLauncher : public Launcher {
public:
  /// Workers execute this same program with the modules that it has open (system/program.hpp), even if the files on
  /// disk are replaced.
  LocalLauncher();
  explicit LocalLauncher(std::filesystem::path program);
  ~LocalLauncher() override;

  std::size_t start(const RunFolder& run, int threads) override;
  std::vector<WorkerEnd> ended() override;
  void wait(std::chrono::milliseconds most) override;
  void allow_threads(std::size_t worker, int threads) override;
  void stop(std::size_t worker) override;

private:
  struct Worker;

  std::filesystem::path program_, file_; ///< the program's name, and the file that is executed
  /// The working folder when this object was made, in which workers start: relative paths of data start there, also if
  /// the process has changed its folder since.
  Descriptor working_folder_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::size_t started_ = 0;
};

} // namespace heed
