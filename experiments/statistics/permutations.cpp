#include "experiments/statistics/permutations.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/unpaired.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace heed::statistics {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// The largest relative rounding error between two differences that are equal in exact arithmetic.
constexpr double rounding_of_differences = 1e-12;

/// Scaled values of both arms; the first n belong to a.
struct Pool {
  std::vector<double> values;
  std::size_t n = 0;
  double total = 0, own_sum = 0, scale = 1; ///< own_sum: observed sum of a's runs

  Pool(std::span<const double> a, std::span<const double> b) : n(a.size()) {
    if (a.empty() || b.empty())
      throw Failed(fmt::format("[statistics] a permutation test needs runs of both arms: {} and {}", a.size(),
                               b.size()));
    for (const std::span<const double>& sample : {a, b})
      for (const double x : sample) {
        if (!std::isfinite(x)) throw Failed(fmt::format("[statistics] a value is not finite: {}", x));
        values.push_back(x);
      }
    scale = scale_of(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] /= scale;
      total += values[i];
      if (i < n) own_sum += values[i];
    }
  }

  double size_a() const { return static_cast<double>(n); }
  double size_b() const { return static_cast<double>(values.size() - n); }
  /// The difference of the means if the sum of a's runs is `sum`.
  double difference(double sum) const { return sum / size_a() - (total - sum) / size_b(); }
};

/// Whether the arms are of different sizes, and large enough for standard deviations.
bool needs_welch(std::span<const double> a, std::span<const double> b) {
  return a.size() != b.size() && std::min(a.size(), b.size()) > 1;
}

/// The sum of the runs that are assigned to a.
double sum_of(const Pool& pool, std::span<const std::size_t> chosen) {
  double sum = 0;
  for (const std::size_t i : chosen) sum += pool.values[i];
  return sum;
}

} // namespace

double smallest_unpaired_p(std::size_t n, std::size_t m) {
  if (n == 0 || m == 0) return 1;
  return std::min(1.0, (n == m ? 2 : 1) / ways_to_assign(n, m));
}

PermutationLevels permutation_levels(std::span<const double> a, std::span<const double> b, bool of_means) {
  const Pool pool(a, b);
  if (needs_welch(a, b)) return welch_permutation_levels(a, b);
  const double own = pool.difference(pool.own_sum);
  std::uint64_t reached = 0, above = 0, count = 0;
  visit_assignments(a.size(), b.size(), [&](std::span<const std::size_t> chosen) {
    const double other = pool.difference(sum_of(pool, chosen));
    reached += std::abs(other) >= std::abs(own) - rounding_of_differences;
    above += other >= own - rounding_of_differences;
    ++count;
  });
  const double all = static_cast<double>(count);
  PermutationLevels out{static_cast<double>(reached) / all, static_cast<double>(above) / all};
  if (of_means) raise_to_welch(out, a, b);
  return out;
}

PermutationTest permutation_test(std::span<const double> a, std::span<const double> b, double confidence) {
  check_confidence(confidence);
  const Pool pool(a, b);
  if (needs_welch(a, b)) return welch_permutation_test(a, b, confidence);
  const double own = pool.difference(pool.own_sum), scale = pool.scale;

  PermutationTest test;
  std::uint64_t reached = 0, above = 0, count = 0;
  std::vector<double> lows, highs, from, to;
  test.exact = visit_assignments(a.size(), b.size(), [&](std::span<const std::size_t> chosen) {
    const double other = pool.difference(sum_of(pool, chosen));
    reached += std::abs(other) >= std::abs(own) - rounding_of_differences;
    above += other >= own - rounding_of_differences;
    ++count;
    // For the values a - theta, this permutation has |difference| = |other - slope theta|; the observed data have |own
    // - theta|.
    const auto moved = static_cast<double>(std::ranges::count_if(chosen, [&](std::size_t i) { return i >= pool.n; }));
    const double slope = 1 - moved / pool.size_a() - moved / pool.size_b();
    const double one = slope < 1 ? (own - other) / (1 - slope) : -unbounded,
                 two = slope > -1 ? (own + other) / (1 + slope) : unbounded;
    const bool always = moved == 0 || slope <= -1;
    lows.push_back(always ? -unbounded : std::min(one, two));
    highs.push_back(always ? unbounded : std::max(one, two));
    // One-sided: other - slope theta >= own - theta for theta of at least `one`.
    from.push_back(moved == 0 ? -unbounded : one);
    to.push_back(moved == 0 ? unbounded : one);
  });

  test.permutations = count;
  test.p = static_cast<double>(reached) / static_cast<double>(count);
  test.p_above = static_cast<double>(above) / static_cast<double>(count);
  raise_to_welch(test, a, b);
  const auto rank = static_cast<std::ptrdiff_t>(std::floor((1 - confidence) * static_cast<double>(count) + 1e-9));
  const auto between = [&](std::vector<double>& low, std::vector<double>& high) -> std::optional<Interval> {
    std::nth_element(low.begin(), low.begin() + rank, low.end());
    std::nth_element(high.begin(), high.begin() + rank, high.end(), std::greater<>());
    const Interval out{low[static_cast<std::size_t>(rank)] * scale, high[static_cast<std::size_t>(rank)] * scale};
    return std::isfinite(out.low) && std::isfinite(out.high) ? std::optional(out) : std::nullopt;
  };
  test.interval = between(lows, highs);
  test.sides = between(from, to);
  join_with_welch(test, a, b, confidence);
  return test;
}

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
