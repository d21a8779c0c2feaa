// Handles SIGINT and SIGTERM so that the program can stop in an orderly way.
#pragma once

#include "autograd/error.hpp"

namespace heed {

/// The user stopped the work. Exit status 128 + the signal's number: 130 for Ctrl-C.
struct Stopped : Failed {
  using Failed::Failed;
};

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
  /// The number of the last signal that arrived while any of them lived; SIGINT if none did.
  static int last();
};

} // namespace heed
