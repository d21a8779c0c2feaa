#include "experiments/statistics/reassignments.hpp"

#include "autograd/rng.hpp"
#include "experiments/system/polling.hpp"

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace heed::statistics {

namespace {

constexpr std::uint64_t permutation_seed = 0x6865'6564'7065'726d; // for every sample; its value is arbitrary

void draw_assignments(std::size_t n, std::size_t m, const VisitAssignment& visit) {
  std::vector<std::size_t> order(n + m);
  for (std::uint64_t which = 0; which <= random_permutations; ++which) { // 0: the observed data
    std::iota(order.begin(), order.end(), std::size_t{0});
    RandomSource random({permutation_seed, Stream::sampling, which});
    for (std::size_t i = 0; i < n && which > 0; ++i) std::swap(order[i], order[i + random.below(order.size() - i)]);
    visit(std::span(order).first(n));
  }
}

} // namespace

double ways_to_assign(std::size_t n, std::size_t m) {
  double out = 1;
  for (std::size_t i = 1; i <= n; ++i) out = out * static_cast<double>(m + i) / static_cast<double>(i);
  return std::round(out);
}

void enumerate_assignments(std::size_t n, std::size_t m, const VisitAssignment& visit) {
  std::vector<std::size_t> chosen(n);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  while (true) {
    visit(chosen);
    std::size_t last = n; // the last index that can grow
    while (last > 0 && chosen[last - 1] == m + last - 1) --last;
    if (last == 0) return;
    ++chosen[last - 1];
    for (std::size_t i = last; i < n; ++i) chosen[i] = chosen[i - 1] + 1;
  }
}

bool visit_assignments(std::size_t n, std::size_t m, const VisitAssignment& visit) {
  const bool all = ways_to_assign(n, m) <= static_cast<double>(most_exact_permutations);
  PolledWork work;
  const VisitAssignment polled = [&](std::span<const std::size_t> first) {
    work.did(4 * (n + m));
    visit(first);
  };
  if (all) enumerate_assignments(n, m, polled);
  else draw_assignments(n, m, polled);
  return all;
}

} // namespace heed::statistics
