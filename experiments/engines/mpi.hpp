// A process group that mpirun started for one run. MPI is in a separate library (libheed_mpi.so) that is loaded
// only if there are several processes, so neither building nor running Heed requires MPI.
#pragma once

#include "autograd/ranks.hpp"

namespace heed {

/// A process group that communicates by MPI.
class MpiRanks : public Ranks {
public:
  /// Ends all processes at once with this exit status.
  virtual void abort(int status) = 0;
  /// Each process calls it once before it ends, after all work is done.
  virtual void finish() = 0;
};

/// The number of processes that mpirun or srun started, from environment variables; 1 if neither was used.
int processes_of_mpi();
/// The number of this process, counted from 0.
int process_of_mpi();

/// The process group. Throws heed::Refused if Heed was built without MPI, or if the number of processes is not a power
/// of two.
MpiRanks& mpi_ranks();

} // namespace heed
