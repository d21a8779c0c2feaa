// A lease: a file that gives one process exclusive use of something, across all machines that see the same files.
#pragma once

#include "experiments/system/output_file.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
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

struct LeaseTimes {
  std::chrono::milliseconds renew{15'000};       ///< how often the owner renews it
  std::chrono::milliseconds lost_after{120'000}; ///< time without renewal after which it is lost
};

/// A file that exists while a process owns the lease. It is created exclusively, which works on every shared file
/// system. File-system locks are not used, because they do not reach other machines everywhere.
///
/// A dead owner loses the lease. On its own machine, it loses the lease at once as long as the machine was not
/// rebooted, because other processes can see that it is gone. On other machines, and after a reboot, it loses the lease
/// when it was not renewed for `lost_after`. (Two machines may have the same name, so equal names prove nothing.) Times
/// are those of the file system, so the machines' clocks may differ.
class Lease {
public:
  /// None if another process owns it. Throws heed::Failed if the file can't be created, or can't be read (Unreadable).
  static std::optional<Lease> attempt(const OutputFile& file, const LeaseTimes& times = {},
                                      const LeaseOwner& owner = this_process());
  /// Waits until the lease is free. None if `give_up` returns true.
  static std::optional<Lease> wait(
      const OutputFile& file, const std::function<bool()>& give_up = [] { return false; });
  /// The owner, which may be the calling process. None if the last owner is dead, or if the file can't be read
  /// (`attempt` then reports it). Does not take the lease.
  static std::optional<LeaseOwner> owner(const OutputFile& file, const LeaseTimes& times = {});
  static bool held(const OutputFile& file) { return owner(file).has_value(); }

  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  /// Releases the lease: the file is removed.
  ~Lease();

  /// Whether another process took the lease because this process did not renew it in time (the process or the file
  /// system was suspended). The other process then owns it. Uses only what is known in memory.
  bool lost() const;
  /// Whether the file still names this process. Call it right before a change of the leased data, because an owner that
  /// was suspended does not know that it lost the lease. Also false if the file is gone. Throws heed::Unreadable if it
  /// can't be read.
  bool confirm();

private:
  class Held;
  explicit Lease(std::unique_ptr<Held> held);
  std::unique_ptr<Held> held_;
};

} // namespace heed
