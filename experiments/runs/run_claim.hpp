// Whose a run is now.
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/system/lease.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace heed {

/// That a run is this process's, and no other's on any machine.
class RunClaim {
public:
  /// Nothing if another process has it. Throws heed::Failed where its file can't be made.
  static std::optional<RunClaim> attempt(const RunFolder& run) { return of(Lease::attempt(run.claim())); }
  /// Waits; nothing if `give_up` says so.
  static std::optional<RunClaim> wait(const RunFolder& run, const std::function<bool()>& give_up) {
    return of(Lease::wait(run.claim(), give_up));
  }
  /// Whether any process, this one included, has the claim.
  static bool held(const RunFolder& run) { return Lease::held(run.claim()); }
  /// Who has it.
  static std::optional<LeaseOwner> owner(const RunFolder& run) { return Lease::owner(run.claim()); }

  /// Another took the run on, since this process was halted for long. As far as is known; `confirm` asks the file.
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
