// The machine that this process runs on.
#pragma once

#include <string>

namespace heed {

struct Machine {
  std::string host;
  std::string cpu;   ///< the model, as the system names it
  int cores = 1;     ///< usable_cores()
  double memory = 0; ///< bytes that can be had without swapping, usable_memory()
};
Machine this_machine();

/// Bytes of memory that this process can have, without swapping: what the machine has left, a container's limit and the
/// process's own (ulimit -v) respected. 0 where the system does not tell.
double usable_memory();

/// The hardware threads that this process may use, a container's limit respected; at least 1.
int usable_cores();

} // namespace heed
