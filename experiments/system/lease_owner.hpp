// The process that owns a lease: whether it lives, and how long a file that it renews has not changed, by this
// process's own clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace heed {

/// The process named in a lease's file.
struct LeaseOwner {
  std::string host;          ///< the machine's name
  std::string boot;          ///< the kernel's identifier of the machine's last boot
  std::string space;         ///< the PID namespace
  std::int64_t process = 0;  ///< its process number (PID)
  std::uint64_t started = 0; ///< its start time, in the kernel's ticks since boot
  std::string job;           ///< the cluster's name of its job; empty if there is none

  bool operator==(const LeaseOwner&) const = default;
};

/// The calling process. Its job is Slurm's: "12_3" for a task of an array.
LeaseOwner this_process();

/// Whether the process lives; none if this machine can't tell: it is on another machine, was there before this machine
/// was restarted, or is in another PID namespace.
std::optional<bool> seen_alive(const LeaseOwner& owner);

/// The clock that says how old a file was when this process first looked at it.
enum class AgeClock { files, machine };

/// The time for which the file is known to be in this state: since this process first saw it, or longer if `age` said
/// so at that look. So a file whose time lies in the future gets old, too, and a clock that jumps later changes
/// nothing. The steady clock stops while the machine sleeps, like the machine's other processes. Any thread may call
/// it.
/// @param state  differs after each renewal
/// @param asked  a time right before the file was read; nothing is known of the time since
/// @param age    its age in seconds by `clock`, asked for once for each state and clock
std::chrono::steady_clock::duration time_unchanged(const std::filesystem::path& file, const std::string& state,
                                                   std::chrono::steady_clock::time_point asked, AgeClock clock,
                                                   const std::function<double()>& age);

} // namespace heed
