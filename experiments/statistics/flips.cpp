#include "experiments/statistics/flips.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace heed::statistics {

namespace {

constexpr std::uint64_t random_seed = 0x6865'6564'666c'6970; // of every sample of flips; nothing depends on its value
/// What rounding may take from one of two statistics that are equal on paper.
constexpr double rounding = 1e-12;

/// Differences as [seed][arm] with zeros where an arm lacks a seed; seeds and arms in the order of the computation.
class Table {
public:
  /// Arms in falling order of |t|.
  explicit Table(std::span<const SeedDifferences> arms) : arms_(arms.size()), n_(arms_), squares_(arms_, 0.0) {
    std::map<std::int64_t, std::size_t> rows;
    for (const SeedDifferences& arm : arms)
      for (const std::int64_t seed : arm.seeds) rows.emplace(seed, 0);
    for (std::size_t next = 0; auto& [seed, row] : rows) row = next++;
    seeds_ = rows.size();

    std::vector<double> statistic(arms_);
    for (std::size_t k = 0; k < arms_; ++k) {
      double sum = 0;
      for (const double d : arms[k].values) {
        sum += d;
        squares_[k] += d * d;
      }
      n_[k] = static_cast<double>(arms[k].values.size());
      statistic[k] = statistic_of(k, sum);
    }
    order_.resize(arms_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return statistic[a] > statistic[b]; });

    std::vector<double> n(arms_), squares(arms_);
    values_.assign(seeds_ * arms_, 0.0);
    for (std::size_t i = 0; i < arms_; ++i) {
      const SeedDifferences& arm = arms[order_[i]];
      n[i] = n_[order_[i]];
      squares[i] = squares_[order_[i]];
      observed_.push_back(statistic[order_[i]]);
      for (std::size_t s = 0; s < arm.seeds.size(); ++s) values_[rows[arm.seeds[s]] * arms_ + i] = arm.values[s];
    }
    n_ = std::move(n);
    squares_ = std::move(squares);
    reached_.assign(arms_, 0);
  }

  std::size_t seeds() const { return seeds_; }

  /// Counts what reaches the data's own statistics when the differences' sums are these.
  void count(const double* sums) {
    double largest = 0;
    for (std::size_t i = arms_; i-- > 0;) {
      largest = std::max(largest, statistic_of(i, sums[i]));
      if (largest >= observed_[i] - rounding) ++reached_[i];
    }
  }

  /// All flips of which the first seed keeps its sign: the others are their mirror images, with the same |t|.
  void count_all() {
    std::vector<double> sums(seeds_ * arms_);
    std::copy_n(values_.begin(), arms_, sums.begin());
    count_from(1, sums);
  }

  void count_random(std::uint64_t flips) {
    std::vector<double> sums(arms_);
    for (std::uint64_t flip = 0; flip <= flips; ++flip) { // flip 0 is the data as they are
      std::fill(sums.begin(), sums.end(), 0.0);
      RandomBlock bits{};
      for (std::size_t s = 0; s < seeds_; ++s) {
        if (flip > 0 && s % 128 == 0) bits = random_block({random_seed, Stream::sampling, flip}, s / 128);
        add(sums.data(), sums.data(), s, (bits[s % 128 / 32] >> s % 32 & 1U) != 0);
      }
      count(sums.data());
    }
  }

  /// In the order in which the arms were given.
  std::vector<double> p(double flips) const {
    std::vector<double> out(arms_);
    double largest = 0;
    for (std::size_t i = 0; i < arms_; ++i) {
      largest = std::max(largest, static_cast<double>(reached_[i]) / flips);
      out[order_[i]] = largest;
    }
    return out;
  }

private:
  /// t^2 / (1 + t^2), from 0 for t = 0 to 1 for an infinite one: t^2 = (n - 1) c / (1 - c), c = sum^2 / (n sum of
  /// squares), since flips leave the squares as they are.
  double statistic_of(std::size_t arm, double sum) const {
    const double n = n_[arm];
    if (n < 2 || !(squares_[arm] > 0)) return 0;
    const double c = std::min(1.0, sum * sum / (n * squares_[arm]));
    return (n - 1) * c / ((n - 1) * c + (1 - c));
  }

  void add(double* to, const double* from, std::size_t seed, bool flipped) const {
    const double* row = values_.data() + seed * arms_;
    for (std::size_t i = 0; i < arms_; ++i) to[i] = flipped ? from[i] - row[i] : from[i] + row[i];
  }

  void count_from(std::size_t seed, std::vector<double>& sums) {
    const double* before = sums.data() + (seed - 1) * arms_;
    if (seed == seeds_) return count(before);
    double* here = sums.data() + seed * arms_;
    for (const bool flipped : {false, true}) {
      add(here, before, seed, flipped);
      count_from(seed + 1, sums);
    }
  }

  std::size_t arms_, seeds_ = 0;
  std::vector<double> n_, squares_, values_, observed_;
  std::vector<std::size_t> order_;
  std::vector<std::uint64_t> reached_;
};

void check(std::span<const SeedDifferences> arms) {
  for (const SeedDifferences& arm : arms) {
    if (arm.values.empty() || arm.values.size() != arm.seeds.size())
      throw Failed(fmt::format("[statistics] an arm has {} differences of {} seeds; it needs one for each seed, and "
                               "one at least",
                               arm.values.size(), arm.seeds.size()));
    for (const double d : arm.values)
      if (!std::isfinite(d)) throw Failed(fmt::format("[statistics] a difference is not finite: {}", d));
  }
}

} // namespace

FlipTest step_down_flips(std::span<const SeedDifferences> arms) {
  check(arms);
  if (arms.empty()) return {{}, true, 1};
  Table table(arms);
  FlipTest test;
  test.exact = table.seeds() <= most_exact_seeds;
  if (test.exact) {
    test.flips = std::uint64_t{1} << table.seeds();
    table.count_all();
    const std::uint64_t half = test.flips / 2;
    test.p = table.p(static_cast<double>(half));
  } else {
    test.flips = random_flips + 1;
    table.count_random(random_flips);
    test.p = table.p(static_cast<double>(test.flips));
  }
  return test;
}

} // namespace heed::statistics
