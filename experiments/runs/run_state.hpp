// A run's state (queued, running, finished, ...), as its folder shows it.
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_records.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

enum class RunState { missing, queued, running, interrupted, failed, finished };
std::string_view name_of(RunState state);
/// Whether the run is finished or failed.
bool has_ended(RunState state);

/// `running` only while a process has the run's claim. `queued` while it waits in a cluster's queue, according to its
/// folder. A folder without an intact manifest is `missing` if nothing was executed in it yet. A run is `interrupted`
/// if its metrics differ from those at its end, because it can compute the lost lines again. A run is also
/// `interrupted` if its files can't be read at the moment (RunSnapshot::unreadable).
RunState state_of(const RunFolder& run);
/// The state of each run. Many runs are read in parallel.
std::vector<RunState> states_of(const std::vector<RunFolder>& runs);
/// The state in which the run was left, for the owner of its claim: never `running` or `queued`.
RunState state_of_claimed(const RunFolder& run);

/// A run's state with the records that determine it. Each record is read once.
struct RunSnapshot {
  RunState state = RunState::missing;
  bool has_manifest = false; ///< the file exists, intact or damaged
  Parsed<Manifest> manifest; ///< result of read_manifest
  std::string wrong_metrics; ///< result of wrong_metrics() (metrics_file.hpp)
  std::string unreadable;    ///< which file can't be read at the moment, and why; else empty
};
RunSnapshot snapshot_of(const RunFolder& run);
/// The snapshot for the owner of the claim: never `running` or `queued`.
RunSnapshot snapshot_of_claimed(const RunFolder& run);

} // namespace heed
