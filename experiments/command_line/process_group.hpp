// The processes of mpirun agree on whether to begin, so that an error in one process's command line does not leave the
// others waiting.
#pragma once

#include <string>

namespace heed {

/// The result of checking a process's command line.
struct ProcessGroupWord {
  bool runs = false;   ///< the command is a valid `heed run`
  std::string problem; ///< the error; empty if there is none, or if help is requested
};

/// Exchanges this result between all processes, once, before anything else. If all of them run, they continue.
/// Otherwise MPI is finalized, and all processes throw heed::Refused with the first error, if one has an error or only
/// some run. Also throws heed::Refused if no MPI process group can be formed (engines/mpi.hpp).
void agree_to_begin(const ProcessGroupWord& own);
/// Whether this process has called agree_to_begin successfully.
bool has_agreed_to_begin();

} // namespace heed
