// The machine on which this process runs: its name and last boot, CPU model, cores and memory.
#pragma once

#include <string>

namespace heed {

struct Machine {
  std::string host;
  std::string cpu;   ///< the model, as the system names it
  int cores = 1;     ///< usable_cores()
  double memory = 0; ///< bytes available without swapping: usable_memory()
};
Machine this_machine();

/// Bytes of memory that this process can use without swapping. Considers the machine's free memory, the container's
/// limit and the process's own limit (ulimit -v). 0 if the system does not say.
double usable_memory();

/// The number of hardware threads that this process may use, within the container's limit; at least 1.
int usable_cores();

/// The machine's name; empty if the system does not say. Several machines may have the same name.
const std::string& this_host();

/// The kernel's identifier of the machine's last boot; empty if the system does not say. It is unique for each machine
/// and each boot.
const std::string& this_boot();

} // namespace heed
