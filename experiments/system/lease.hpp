// Who has something that one process at a time may have, on this machine or on another that sees the same files.
#pragma once

#include "experiments/system/output_file.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace heed {

/// Whom a lease's file names.
struct LeaseOwner {
  std::string host;          ///< the machine's name
  std::string boot;          ///< of the machine's last start, the kernel's own identifier
  std::string space;         ///< the space that process numbers are of
  std::int64_t process = 0;  ///< its number
  std::uint64_t started = 0; ///< when it was started, in the kernel's ticks since the machine's start
  std::string job;           ///< a cluster's name for what it is part of; empty where there is none

  bool operator==(const LeaseOwner&) const = default;
};

/// The calling process. Its job is Slurm's, "12_3" for a task of an array.
LeaseOwner this_process();

struct LeaseTimes {
  std::chrono::milliseconds renew{15'000};       ///< how often the owner renews it
  std::chrono::milliseconds lost_after{120'000}; ///< without being renewed
};

/// A file that exists while somebody has what it stands for. It is made exclusively, which works on every shared file
/// system; no lock of the file system is asked for, since locks don't reach other machines everywhere.
///
/// An owner that died loses it: on its own machine at once, as long as that was not started anew, since there everybody
/// sees that the process is gone; elsewhere, and after a new start, when it was not renewed for `lost_after`. (Two
/// machines may have one name, so that a name says nothing.) Times are those of the file system, so that clocks may
/// differ.
class Lease {
public:
  /// Nothing if another has it. Throws heed::Failed where the file can't be made, or can't be read (Unreadable).
  static std::optional<Lease> attempt(const OutputFile& file, const LeaseTimes& times = {},
                                      const LeaseOwner& owner = this_process());
  /// Waits; nothing if `give_up` says so.
  static std::optional<Lease> wait(
      const OutputFile& file, const std::function<bool()>& give_up = [] { return false; });
  /// Who has it, the calling process included; nobody where the last owner is dead, and where the file can't be read
  /// (`attempt` then says so). Takes nothing.
  static std::optional<LeaseOwner> owner(const OutputFile& file, const LeaseTimes& times = {});
  static bool held(const OutputFile& file) { return owner(file).has_value(); }

  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  /// Gives it back: the file is removed.
  ~Lease();

  /// Whether another took it, since this process did not renew it in time (it was halted, or the file system was).
  /// What the lease is for is then the other's. Asked of memory alone.
  bool lost() const;
  /// Whether it is still this process's, by its file: to be asked right before a change of what it is for, since an
  /// owner that was halted does not know it. False, too, where the file is gone. Throws heed::Unreadable where it can't
  /// be read.
  bool confirm();

private:
  class Held;
  explicit Lease(std::unique_ptr<Held> held);
  std::unique_ptr<Held> held_;
};

} // namespace heed
