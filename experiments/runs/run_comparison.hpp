// Compares the results of two runs bit by bit, and the machines and programs that produced them.
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
  std::size_t lines = 0;                 ///< lines of metrics that were compared
  std::size_t tensors = 0;               ///< tensors of the last checkpoint, including the optimiser's
  std::int64_t numbers = 0;              ///< values in these tensors
  std::vector<std::string> differences;  ///< sentences, metrics before parameters; empty: identical
  std::vector<std::string> not_compared; ///< sentences
  bool same() const { return differences.empty(); }
};

/// Returns the next line at each call; none after the last line.
using NextMetrics = std::function<std::optional<MetricsRecord>()>;
/// Compares metrics without their seconds, line by line, and reports the first line that differs.
void compare_metrics(const NextMetrics& then, const NextMetrics& now, RunComparison& out);
/// Compares every tensor byte by byte. Reports the first tensor that differs, with its first different value and the
/// number of different values.
void compare_checkpoints(const Checkpoint& then, const Checkpoint& now, RunComparison& out);

/// Compares the metrics, and the newest intact checkpoint of `then` with the checkpoint of `now` at the same step.
/// Throws heed::Failed if metrics can't be read.
RunComparison compare_runs(const RunFolder& then, const RunFolder& now);

/// A difference between the machines or programs of two runs, in terms of the manifests.
struct MachineDifference {
  std::string what, a, b;
};
std::vector<MachineDifference> machine_differences(const Manifest& a, const Manifest& b);
/// The differences that can change results in the last bits, as far as the manifest `a` has the values. A different CPU
/// is not included if both runs used an instruction set with bit-identical results on every CPU.
std::vector<MachineDifference> bit_differences(const Manifest& a, const Manifest& b);

} // namespace heed
