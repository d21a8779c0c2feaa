// Enumerates or samples the ways to reassign runs to two arms, for permutation tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace heed::statistics {

/// Up to this number of permutations, all are enumerated. For more, `random_permutations` are drawn, and the observed
/// data count as one more.
inline constexpr std::uint64_t most_exact_permutations = 200'000; // ten runs in each of two arms
inline constexpr std::uint64_t random_permutations = 99'999;

/// (n + m)! / (n! m!): the number of ways to assign n of n + m runs to the first arm.
double ways_to_assign(std::size_t n, std::size_t m);

/// Receives the indices of the runs that are assigned to the first arm.
using VisitAssignment = std::function<void(std::span<const std::size_t> first_arm)>;

/// Calls `visit` with each of the ways to assign n of the n + m runs to the first arm; the observed runs of the first
/// arm are 0 to n - 1. The observed assignment comes first.
void enumerate_assignments(std::size_t n, std::size_t m, const VisitAssignment& visit);

/// Likewise with all ways if there are at most `most_exact_permutations`. Otherwise `visit` gets the observed
/// assignment and `random_permutations` random ones, which are always the same. Returns whether these were all ways.
bool visit_assignments(std::size_t n, std::size_t m, const VisitAssignment& visit);

} // namespace heed::statistics
