// Where a run stands, as its folder says.
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_records.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

enum class RunState { missing, queued, running, interrupted, failed, finished };
std::string_view name_of(RunState state);

/// `running` only while a process has the run's claim; `queued` while it waits in a cluster's queue, as far as its
/// folder knows. A folder without a whole manifest is `missing` where nothing ran in it yet.
/// A run whose metrics are not those it finished with is `interrupted`: what is lost can be made again. So is one whose
/// files can't be read now (RunSnapshot::unreadable).
RunState state_of(const RunFolder& run);
/// Of each; many are looked at several at a time.
std::vector<RunState> states_of(const std::vector<RunFolder>& runs);
/// The state that the run was left in, for one who has its claim: never `running` or `queued`.
RunState state_of_claimed(const RunFolder& run);

/// A run's state with the records that it follows from, each read once.
struct RunSnapshot {
  RunState state = RunState::missing;
  bool has_manifest = false; ///< there is such a file, whole or not
  Parsed<Manifest> manifest; ///< as read_manifest gives it
  std::string wrong_metrics; ///< as wrong_metrics() says (metrics_file.hpp)
  std::string unreadable;    ///< which file can't be read now, and why; empty where all can be
};
RunSnapshot snapshot_of(const RunFolder& run);
/// As who has the claim sees it: never `running` or `queued`.
RunSnapshot snapshot_of_claimed(const RunFolder& run);

} // namespace heed
