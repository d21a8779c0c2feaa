// Processes that mpirun started for one run. MPI itself is a part of the program that is loaded where there are several
// (libheed_mpi.so), so that neither building Heed nor running it takes MPI.
#pragma once

#include "autograd/ranks.hpp"

namespace heed {

/// A team by MPI.
class MpiRanks : public Ranks {
public:
  /// Ends all processes at once with this status, whatever they are at.
  virtual void abort(int status) = 0;
  /// To be called once by each process before it ends, when all are done.
  virtual void finish() = 0;
};

/// How many processes mpirun or srun started, as their environment says: 1 where nobody did.
int processes_of_mpi();
/// Which of them this is, counted from 0.
int process_of_mpi();

/// The team. Throws heed::Refused where Heed was built without MPI, or their number is no power of two.
MpiRanks& mpi_ranks();

} // namespace heed
