// Runs on this machine.
#pragma once

#include "experiments/launch/launcher.hpp"

#include <filesystem>
#include <memory>

namespace heed {

/// Each worker in a process of its own. One that crashes takes nothing with it; should this process die, they keep
/// their checkpoints and end. Those that are there when the launcher goes are killed.
class LocalLauncher : public Launcher {
public:
  /// Workers are this very program, with the parts that it has open (system/program.hpp), whatever becomes of their files
  /// meanwhile.
  LocalLauncher();
  explicit LocalLauncher(std::filesystem::path program);
  ~LocalLauncher() override;

  std::size_t start(const RunFolder& run, int threads) override;
  std::vector<WorkerEnd> ended() override;
  void wait(std::chrono::milliseconds most) override;
  void stop(std::size_t worker) override;

private:
  struct Worker;

  std::filesystem::path program_, file_; ///< its name, and what is executed
  std::vector<std::unique_ptr<Worker>> workers_;
  std::size_t started_ = 0;
};

} // namespace heed
