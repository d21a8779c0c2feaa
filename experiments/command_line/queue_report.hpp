// What a cluster's queue holds of a folder's runs, and how others of them left it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace heed {

/// Asks Slurm for the runs that wait there, tells their folders what became of those that are gone, and says in lines
/// which wait and why, which run and where, which were requeued, and what ended the others: cancelled, out of time, out
/// of memory, ... Empty where no run was ever handed to a queue.
/// @param name_of  a run, by its ID, for people
std::string queue_report(const std::filesystem::path& out,
                         const std::function<std::string(const std::string& id)>& name_of);

} // namespace heed
