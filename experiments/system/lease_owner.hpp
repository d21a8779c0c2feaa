// The process that owns a lease, and whether it lives.
#pragma once

#include <cstdint>
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

} // namespace heed
