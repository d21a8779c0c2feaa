// Exchanges results between the processes of a group that share some work.
#pragma once

#include "autograd/ranks.hpp"
#include "autograd/shards.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// Exchanges the results of jobs that the processes of a group have divided among them: each process sends its own
/// results and receives the others'. Does nothing in a process group of one process.
/// @param share_of  the range of jobs of a rank: aligned_share or even_share
/// @param pack      pack(job, Packed&) writes the result of one of this process's jobs
/// @param unpack    unpack(job, Unpacked&) reads the result of a job of another process
template <class Share, class Pack, class Unpack>
void exchange(const ThreadPool& workers, int jobs, Share share_of, const Pack& pack, const Unpack& unpack) {
  Ranks* ranks = workers.ranks();
  if (!ranks) return;
  Packed packed;
  const auto [first, last] = share_of(jobs, ranks->rank(), ranks->count());
  for (int job = first; job < last; ++job) pack(job, packed);
  const std::vector<std::string> all = gather(*ranks, packed.take());
  for (int rank = 0; rank < ranks->count(); ++rank) {
    if (rank == ranks->rank()) continue;
    Unpacked unpacked(all[static_cast<std::size_t>(rank)]);
    const auto [begin, end] = share_of(jobs, rank, ranks->count());
    for (int job = begin; job < end; ++job) unpack(job, unpacked);
  }
}

/// `exchange` of plain values, one for each job.
template <class T, class Share>
void exchange_values(const ThreadPool& workers, std::vector<T>& values, Share share_of) {
  const auto value = [&](int job) -> T& { return values[static_cast<std::size_t>(job)]; };
  exchange(
      workers, static_cast<int>(values.size()), share_of, [&](int job, Packed& packed) { packed.add(value(job)); },
      [&](int job, Unpacked& packed) { value(job) = packed.get<T>(); });
}

/// This process's range of the jobs. All jobs in a group of one process.
/// @param share  aligned_share for jobs whose results are summed in a tree
inline std::pair<int, int> share_of(int jobs, const ThreadPool& workers, decltype(even_share)& share = even_share) {
  const Ranks* ranks = workers.ranks();
  return ranks ? share(jobs, ranks->rank(), ranks->count()) : std::pair(0, jobs);
}

/// Returns the value of the process group's first process on all processes.
inline bool decided(const ThreadPool& workers, bool own) {
  return workers.ranks() ? gather(*workers.ranks(), own ? "y" : "n").front() == "y" : own;
}

} // namespace heed
