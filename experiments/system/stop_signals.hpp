// Handles SIGINT and SIGTERM so that the program can stop in an orderly way.
#pragma once

namespace heed {

/// While it lives, SIGINT and SIGTERM only set a flag. A second SIGINT ends the process at once, unless
/// it arrives within half a second of the first signal, or `patient` (for
/// a run's worker, which then saves its checkpoint). Only one instance at a time in a process.
class StopSignals {
public:
  explicit StopSignals(bool patient = false);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static bool requested();
};

} // namespace heed
