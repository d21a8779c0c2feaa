// How processes that mpirun started begin: each has a command line of its own, and what one refuses keeps all from
// waiting for it.
#pragma once

#include <string>

namespace heed {

/// What a process's command line says.
struct TeamWord {
  bool runs = false;   ///< it is `heed run`, and nothing is wrong with it
  std::string problem; ///< what is wrong with it; empty: nothing, or it asks for help
};

/// Has all processes tell each other this word, once, before anything else. Where all run, they go on. Else MPI is over:
/// throws heed::Refused on all of them where one has a problem or only some run, with the first problem there is.
/// Throws heed::Refused, too, where there is no team to be had (engines/mpi.hpp).
void agree_to_begin(const TeamWord& own);
/// Whether this process has done so.
bool has_agreed_to_begin();

} // namespace heed
