// Whether two runs came out the same, to the last bit.
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_records.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heed {

struct RunComparison {
  std::size_t lines = 0;                 ///< of metrics that were compared
  std::size_t tensors = 0;               ///< of the last checkpoint, the optimiser's among them
  std::int64_t numbers = 0;              ///< in these
  std::vector<std::string> differences;  ///< sentences, metrics before parameters; empty: the same
  std::vector<std::string> not_compared; ///< sentences
  bool same() const { return differences.empty(); }
};

/// Gives line after line; none after the last.
using NextMetrics = std::function<std::optional<MetricsRecord>()>;
/// Metrics without their seconds, line by line: the first one that differs.
void compare_metrics(const NextMetrics& then, const NextMetrics& now, RunComparison& out);
/// Every tensor by its bytes: the first that differs, with its first number that does and how many do.
void compare_checkpoints(const Checkpoint& then, const Checkpoint& now, RunComparison& out);

/// Metrics, and the newest whole checkpoint of `then` with that of the same step of `now`. Throws heed::Failed where
/// metrics can't be read.
RunComparison compare_runs(const RunFolder& then, const RunFolder& now);

/// What of two runs' machines and programs differs, in the manifests' terms.
struct MachineDifference {
  std::string what, a, b;
};
std::vector<MachineDifference> machine_differences(const Manifest& a, const Manifest& b);
/// Those that can make other bits, as far as `a` says what it had. An unlike CPU can't, where both had kernels that are
/// the same bits on every one.
std::vector<MachineDifference> bit_differences(const Manifest& a, const Manifest& b);

} // namespace heed
