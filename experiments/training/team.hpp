// What the processes of a team tell each other of the work that they share.
#pragma once

#include "autograd/ranks.hpp"
#include "autograd/shards.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// `values` holds one for each of a number of jobs; this process has filled in those of its share, and gets the others.
/// Nothing happens in a team of one process.
/// @param share_of  a rank's share of so many jobs: aligned_share, or even_share
template <class T, class Share> void exchange_values(const Workers& workers, std::vector<T>& values, Share share_of) {
  Ranks* ranks = workers.ranks();
  if (!ranks) return;
  const auto jobs = static_cast<int>(values.size());
  Packed packed;
  const auto [first, last] = share_of(jobs, ranks->rank(), ranks->count());
  for (int i = first; i < last; ++i) packed.add(values[static_cast<std::size_t>(i)]);
  const std::vector<std::string> all = gather(*ranks, packed.take());
  for (int rank = 0; rank < ranks->count(); ++rank) {
    Unpacked unpacked(all[static_cast<std::size_t>(rank)]);
    const auto [begin, end] = share_of(jobs, rank, ranks->count());
    for (int i = begin; i < end; ++i) values[static_cast<std::size_t>(i)] = unpacked.get<T>();
  }
}

/// This process's share of so many jobs that no tree is over: all of them where it is alone.
inline std::pair<int, int> share_of(int jobs, const Workers& workers) {
  const Ranks* ranks = workers.ranks();
  return ranks ? even_share(jobs, ranks->rank(), ranks->count()) : std::pair(0, jobs);
}

/// Likewise for results that are no plain values, of jobs of which share_of() is this process's: `pack(job, Packed&)`
/// writes one, `unpack(job, Unpacked&)` takes it.
template <class Pack, class Unpack>
void exchange_results(const Workers& workers, int jobs, const Pack& pack, const Unpack& unpack) {
  Ranks* ranks = workers.ranks();
  if (!ranks) return;
  Packed packed;
  const auto [first, last] = even_share(jobs, ranks->rank(), ranks->count());
  for (int job = first; job < last; ++job) pack(job, packed);
  const std::vector<std::string> all = gather(*ranks, packed.take());
  for (int rank = 0; rank < ranks->count(); ++rank) {
    if (rank == ranks->rank()) continue;
    Unpacked unpacked(all[static_cast<std::size_t>(rank)]);
    const auto [begin, end] = even_share(jobs, rank, ranks->count());
    for (int job = begin; job < end; ++job) unpack(job, unpacked);
  }
}

/// The word of the team's first process, on all of them.
inline bool decided(const Workers& workers, bool own) {
  return workers.ranks() ? gather(*workers.ranks(), own ? "y" : "n").front() == "y" : own;
}

} // namespace heed
