#include "experiments/sweep/executor.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed {

Share share_machine(const Machine& machine, std::size_t runs, double bytes_per_run, int jobs, int threads) {
  const int cores = std::max(1, machine.cores);
  Share share;
  if (jobs > 0) {
    share.jobs = jobs;
  } else {
    share.jobs = std::max(1, cores / std::max(1, threads));
    if (runs < static_cast<std::size_t>(share.jobs)) share.jobs = std::max(1, static_cast<int>(runs));
    if (machine.memory > 0 && bytes_per_run > 0) {
      constexpr double usable = 0.8;  // the estimate is rough, and others live here too
      const double fit = std::floor(usable * machine.memory / bytes_per_run);
      if (fit < share.jobs) share.jobs = std::max(1, static_cast<int>(fit));
    }
  }
  share.threads = threads > 0 ? threads : std::max(1, cores / share.jobs);
  return share;
}

} // namespace heed
