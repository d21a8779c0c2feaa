// The state of runs in a Slurm queue.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace heed {

/// Asks Slurm for the queued runs of the folder, and records in the run folders how jobs have ended. Returns lines of
/// text: which runs wait and why, which run and where, which were requeued, and how the others ended (cancelled, time
/// limit, out of memory, ...). Empty if no run was ever submitted to a queue.
/// @param name_of  the displayed name of a run, given its ID
std::string queue_report(const std::filesystem::path& out,
                         const std::function<std::string(const std::string& id)>& name_of);

} // namespace heed
