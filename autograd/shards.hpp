// Sums over the shards of a batch that have the same bits for any number of threads and processes.
#pragma once

#include "autograd/ranks.hpp"
#include "autograd/real.hpp"
#include "autograd/thread_pool.hpp"

#include <cstdint>
#include <vector>

namespace heed::HEED_REAL {

/// The number of values in one block of a sum. The bits of results depend on it, so change it only for a good reason.
inline constexpr std::int64_t sum_block = 8192;

/// parts[0] <- the sum over all parts, in a fixed binary tree: first parts that are neighbours, then neighbouring sums.
/// Each part has `extent` values; afterwards, the contents of the other parts are undefined. Returns the sum of squares
/// of the result, over fixed blocks and in double, as in global_norm.
double sum_parts(ThreadPool& workers, const std::vector<Real*>& parts, std::int64_t extent);

/// The same sum, bit for bit, of `shards` parts that are distributed over the processes of the group. This process has
/// the parts of its aligned_share. Afterwards, parts[0], or `sum` in a process without parts, has the result, in every
/// process.
/// Each process adds the lower levels of the tree locally. At each further level, two peers each add one half of the
/// values that they have added so far. Then they exchange the halves. Each process therefore sends at most twice the
/// extent, for any number of processes (Rabenseifner 2004, "Optimization of collective reduction operations").
double sum_parts_of_process_group(ThreadPool& workers, const std::vector<Real*>& parts, Real* sum, int shards,
                                  std::int64_t extent);

} // namespace heed::HEED_REAL
