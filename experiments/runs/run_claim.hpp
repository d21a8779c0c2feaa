// Exclusive ownership of a run by one process, across machines.
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/system/lease.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace heed {

/// While it lives, this process owns the run, and no other process on any machine does.
class RunClaim {
public:
  /// None if another process owns the run. Throws heed::Failed if the claim file can't be created.
  static std::optional<RunClaim> attempt(const RunFolder& run) { return of(Lease::attempt(run.claim())); }
  /// Waits until the run is free. None if `give_up` returns true.
  static std::optional<RunClaim> wait(const RunFolder& run, const std::function<bool()>& give_up) {
    return of(Lease::wait(run.claim(), give_up));
  }
  /// Whether any process, including this one, owns the run.
  static bool held(const RunFolder& run) { return Lease::held(run.claim()); }
  /// Removes a dead owner's claim for which a worker that starts now would have to wait. False if it can't do that yet,
  /// or if the owner lives. Throws heed::Failed.
  static bool make_free(const RunFolder& run) { return Lease::make_free(run.claim()); }
  /// What a process that wants the run waits for. Throws heed::Unreadable.
  static WaitedFor waited_for(const RunFolder& run) { return Lease::waited_for(run.claim()); }
  /// The process that owns the run.
  static std::optional<LeaseOwner> owner(const RunFolder& run) { return Lease::owner(run.claim()); }

  /// Whether another process took over the run because this process was suspended for long. `lost` uses what is known
  /// in memory; `confirm` reads the file.
  bool lost() const { return lease_.lost(); }
  bool confirm() { return lease_.confirm(); }

private:
  explicit RunClaim(Lease&& lease) : lease_(std::move(lease)) {}
  static std::optional<RunClaim> of(std::optional<Lease>&& lease) {
    return lease ? std::optional(RunClaim(std::move(*lease))) : std::nullopt;
  }
  Lease lease_;
};

} // namespace heed
