// A lease: a file that gives one process exclusive use of something, across all machines that see the same files. The
// process that owns it: whether it lives, and how long a file that it renews has not changed.
#pragma once

#include "experiments/system/output_file.hpp"
#include "experiments/system/polling.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
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

struct LeaseTimes {
  std::chrono::milliseconds renew{15'000};       ///< how often the owner renews it
  std::chrono::milliseconds lost_after{120'000}; ///< time without renewal after which it is lost
};

/// A file that exists while a process owns the lease. It is created exclusively, which works on every shared file
/// system. File-system locks are not used, because they do not reach other machines everywhere.
///
/// A dead owner loses the lease. On its own machine, it loses the lease at once as long as the machine was not
/// rebooted, because other processes can see that it is gone. On other machines, and after a reboot, it loses the lease
/// when it was not renewed for `lost_after`. (Two machines may have the same name, so equal names prove nothing.) That
/// time is measured by the steady clock of the process that asks, from its first look at the file as it is; only at
/// this look, the file may be older already, by the file system's clock. So the machines' clocks may differ, and a file
/// whose time lies in the future is lost as well.
class Lease {
public:
  /// None if another process owns it. Throws heed::Failed if the file can't be created, or can't be read (Unreadable).
  static std::optional<Lease> attempt(const OutputFile& file, const LeaseTimes& times = {},
                                      const LeaseOwner& owner = this_process());
  /// Waits until the lease is free. None if `give_up` returns true. The thread's PollScope can end the wait, too, and
  /// its WaitScope learns what is waited for.
  static std::optional<Lease> wait(
      const OutputFile& file, const std::function<bool()>& give_up = [] { return false; },
      const LeaseTimes& times = {});
  /// The owner, which may be the calling process. None if the last owner is dead, or if the file can't be read
  /// (`attempt` then reports it). Does not take the lease.
  static std::optional<LeaseOwner> owner(const OutputFile& file, const LeaseTimes& times = {});
  static bool held(const OutputFile& file) { return owner(file).has_value(); }
  /// Takes and releases the lease where a process that starts now would have to wait for a dead owner, since it has
  /// seen nothing yet: the file's time lies in the future, or a process died while it took the lease over. False if
  /// this process can't take it, either. Throws like `attempt`.
  static bool make_free(const OutputFile& file);
  /// What a process that wants the lease waits for, as far as `owner` knows. Throws heed::Unreadable.
  static WaitedFor waited_for(const OutputFile& file, const LeaseTimes& times = {});

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
