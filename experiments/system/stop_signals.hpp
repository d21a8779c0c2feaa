// Stopping in good order on Ctrl-C.
#pragma once

namespace heed {

/// While it lives, SIGINT and SIGTERM only raise a flag. A second SIGINT ends the process at once, unless `patient`
/// (a run's worker, which is about to keep its checkpoint). One at a time in a process.
class StopSignals {
public:
  explicit StopSignals(bool patient = false);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static bool requested();
};

} // namespace heed
