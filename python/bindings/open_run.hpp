// A run's folder that a Python object examines.
#pragma once

#include "autograd/fork_safe.hpp"
#include "experiments/actions/trained_run.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heed::python {

/// Weights of a run.
struct RunWeights {
  std::shared_ptr<const Checkpoint> checkpoint;
  std::int64_t step = 0, average = 1;
  std::vector<std::string> damaged; ///< a sentence for each newer checkpoint that is damaged
};

/// Reads the parts of a run when they are needed first. Several threads may call its functions at once, without the
/// GIL.
class OpenRun {
public:
  /// Throws heed::Refused if the configuration is missing or damaged.
  explicit OpenRun(RunFolder folder);

  const RunFolder& folder() const { return folder_; }
  const Config& config() const { return config_; }
  /// The newest intact checkpoint's weights, which are read once and stay; or the average of the newest `average`
  /// checkpoints, which are read anew.
  RunWeights weights(std::int64_t average);
  /// The weights of the checkpoint of this step.
  RunWeights weights_at(std::int64_t step) const;
  const Task& task();
  /// The engine for this configuration, which differs from the run's only in how it is evaluated.
  const Engine& engine(const Config& config);

private:
  RunFolder folder_;
  std::filesystem::path working_folder_; ///< in which relative paths of data start: the process's at the beginning
  Config config_;
  ForkSafe<std::optional<RunWeights>> weights_;
  ForkSafe<std::unique_ptr<Task>> task_;
};

} // namespace heed::python
