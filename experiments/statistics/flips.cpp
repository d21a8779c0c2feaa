#include "experiments/statistics/flips.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace heed::statistics {

namespace {

/// The largest relative rounding error between two statistics that are equal in exact arithmetic.
constexpr double rounding_of_t = 1e-12;

Flips flips_for(std::size_t seeds, Sides sides) {
  if (seeds > most_exact_seeds) return Flips::sampled;
  return sides == Sides::both ? Flips::half : Flips::all;
}

/// Groups of arms with the same seeds, in any order. Each group is limited to the number of columns for which the flip
/// sums are efficient.
std::vector<std::vector<std::size_t>> with_same_seeds(std::span<const SeedDifferences> arms) {
  constexpr std::size_t most = 16;
  std::vector<std::vector<std::size_t>> out;
  std::map<std::vector<std::int64_t>, std::size_t> open; // the group that the next arm with these seeds joins
  for (std::size_t i = 0; i < arms.size(); ++i) {
    std::vector<std::int64_t> seeds = arms[i].seeds;
    std::ranges::sort(seeds);
    const auto [at, is_new] = open.try_emplace(std::move(seeds), out.size());
    if (is_new || out[at->second].size() == most) {
      at->second = out.size();
      out.emplace_back();
    }
    out[at->second].push_back(i);
  }
  return out;
}

} // namespace

FlipTest step_down_flips(std::span<const SeedDifferences> arms, Sides sides) {
  check(arms);
  if (arms.empty()) return {{}, true, 1};
  std::vector<ScaledDifferences> scaled;
  for (const SeedDifferences& arm : arms) scaled.emplace_back(arm.values);
  const auto statistic = [&](const ScaledDifferences& arm, double sum) {
    const double size = size_of_t(arm.n, arm.squares, sum);
    return sides == Sides::above && sum < 0 ? -size : size;
  };
  std::vector<double> observed;
  for (const ScaledDifferences& arm : scaled) observed.push_back(statistic(arm, arm.sum));

  // Columns sorted in decreasing order of the statistic (|t| or t).
  std::vector<std::size_t> order(arms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t arm) { return observed[arm]; });
  const std::map<std::int64_t, std::size_t> rows = rows_of(arms);
  std::vector<SeedValue> values;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t s = 0; s < arms[order[i]].seeds.size(); ++s)
      values.push_back({rows.at(arms[order[i]].seeds[s]), i, scaled[order[i]].values[s]});
  const SeedRows table(rows.size(), arms.size(), std::move(values));

  // For each arm: the number of flips in which it, or an arm after it, reaches the arm's observed statistic.
  std::vector<std::uint64_t> reached(arms.size(), 0);
  const Flips which = flips_for(table.seeds(), sides);
  const std::uint64_t count = each_flip(table, which, [&](const double* sums) {
    double largest = -1;
    for (std::size_t i = order.size(); i-- > 0;) {
      largest = std::max(largest, statistic(scaled[order[i]], sums[i]));
      if (largest >= observed[order[i]] - rounding_of_t) ++reached[i];
    }
  });

  FlipTest test;
  test.exact = which != Flips::sampled;
  test.flips = which == Flips::half ? 2 * count : count;
  test.p.resize(arms.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    test.p[order[i]] = largest = std::max(largest, static_cast<double>(reached[i]) / static_cast<double>(count));
  return test;
}

std::vector<double> flips_of_each(std::span<const SeedDifferences> arms) {
  check(arms);
  std::vector<double> p(arms.size());
  for (const std::vector<std::size_t>& members : with_same_seeds(arms)) {
    const std::map<std::int64_t, std::size_t> rows = rows_of(arms.subspan(members.front(), 1));
    std::vector<SeedValue> values;
    std::vector<ScaledDifferences> scaled;
    std::vector<double> observed;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const SeedDifferences& arm = arms[members[i]];
      const ScaledDifferences& of = scaled.emplace_back(arm.values);
      observed.push_back(size_of_t(of.n, of.squares, of.sum));
      for (std::size_t s = 0; s < arm.seeds.size(); ++s) values.push_back({rows.at(arm.seeds[s]), i, of.values[s]});
    }
    const SeedRows table(rows.size(), members.size(), std::move(values));
    std::vector<std::uint64_t> reached(members.size(), 0);
    const std::uint64_t count = each_flip(table, flips_for(table.seeds(), Sides::both), [&](const double* sums) {
      for (std::size_t i = 0; i < members.size(); ++i)
        reached[i] += size_of_t(scaled[i].n, scaled[i].squares, sums[i]) >= observed[i] - rounding_of_t;
    });
    for (std::size_t i = 0; i < members.size(); ++i)
      p[members[i]] = static_cast<double>(reached[i]) / static_cast<double>(count);
  }
  return p;
}

namespace {

constexpr std::uint64_t flip_seed = 0x6865'6564'666c'6970; // for every sample of flips; its value is arbitrary

/// Visits the flips of at most `most_exact_seeds` seeds.
class ExactFlips {
public:
  ExactFlips(const SeedRows& rows, const std::function<void(const double*)>& visit)
      : rows_(rows), visit_(visit), of_seed_(rows.seeds(), nullptr), sums_(rows.seeds() * rows.columns()) {
    for (const SeedRows::Row& row : rows.rows()) of_seed_[row.seed] = &row;
  }

  /// @param mirrored  whether the first seed's sign is changed in all of these flips
  std::uint64_t operator()(bool mirrored) {
    const std::vector<double> zeros(rows_.columns(), 0.0);
    add(0, mirrored, zeros.data(), sums_.data());
    flip_from(1);
    return std::uint64_t{1} << (rows_.seeds() - 1);
  }

private:
  void add(std::size_t seed, bool flipped, const double* from, double* to) const {
    const std::size_t columns = rows_.columns();
    const SeedRows::Row* row = of_seed_[seed];
    const double* values = row ? rows_.values_of(*row) : nullptr;
    if (row && row->count == columns) { // the usual case, which the compiler vectorises
      for (std::size_t i = 0; i < columns; ++i) to[i] = flipped ? from[i] - values[i] : from[i] + values[i];
      return;
    }
    std::copy_n(from, columns, to);
    for (std::size_t i = 0; row && i < row->count; ++i) {
      double& sum = to[rows_.columns_of(*row)[i]];
      sum = flipped ? sum - values[i] : sum + values[i];
    }
  }

  /// `sums_[s]`: the sums over the seeds up to s.
  void flip_from(std::size_t seed) {
    const double* before = sums_.data() + (seed - 1) * rows_.columns();
    if (seed == rows_.seeds()) {
      work_.did(4 * rows_.columns());
      return visit_(before);
    }
    double* here = sums_.data() + seed * rows_.columns();
    for (const bool flipped : {false, true}) {
      add(seed, flipped, before, here);
      flip_from(seed + 1);
    }
  }

  const SeedRows& rows_;
  const std::function<void(const double*)>& visit_;
  std::vector<const SeedRows::Row*> of_seed_;
  std::vector<double> sums_;
  PolledWork work_;
};

/// This number of sampled flips is summed at once, each in the order of the seeds. So a flip's result does not depend
/// on the other flips, additions run in parallel in the processor, and signs need no branches.
constexpr std::size_t together = 16;
using SumsTogether = std::vector<std::array<double, together>>; // by column, then by flip

/// Sums flips `first` to `first + together`, exclusive; flip 0 is the observed data.
void add_sampled(const SeedRows& rows, std::uint64_t first, SumsTogether& sums, PolledWork& work) {
  for (auto& column : sums) column.fill(0.0);
  constexpr std::size_t bits_of_word = 32, bits_of_block = 128;
  std::array<RandomBlock, together> blocks{};
  std::array<std::uint32_t, together> words{};
  std::array<std::uint64_t, together> signs{};
  std::size_t block = std::numeric_limits<std::size_t>::max(), word = block; // which ones are drawn
  for (const SeedRows::Row& row : rows.rows()) {
    const std::size_t s = row.seed;
    if (s / bits_of_block != block) {
      block = s / bits_of_block;
      for (std::size_t i = 0; i < together; ++i)
        if (first + i > 0) blocks[i] = random_block({flip_seed, Stream::sampling, first + i}, block);
    }
    if (s / bits_of_word != word) {
      word = s / bits_of_word;
      for (std::size_t i = 0; i < together; ++i) words[i] = blocks[i][s % bits_of_block / bits_of_word];
    }
    const std::size_t bit = s % bits_of_word;
    for (std::size_t i = 0; i < together; ++i) signs[i] = std::uint64_t{words[i] >> bit & 1U} << 63;
    const std::size_t* places = rows.columns_of(row);
    const double* values = rows.values_of(row);
    work.did(together * (1 + row.count));
    for (std::size_t c = 0; c < row.count; ++c) {
      const auto value = std::bit_cast<std::uint64_t>(values[c]);
      std::array<double, together>& column = sums[places[c]];
      for (std::size_t i = 0; i < together; ++i) column[i] += std::bit_cast<double>(value ^ signs[i]);
    }
  }
}

} // namespace

SeedRows::SeedRows(std::size_t seeds, std::size_t columns, std::vector<SeedValue> values)
    : seeds_(seeds), columns_(columns) {
  std::ranges::sort(values, {}, [](const SeedValue& of) { return std::pair(of.seed, of.column); });
  places_.reserve(values.size());
  values_.reserve(values.size());
  for (const SeedValue& of : values) {
    if (rows_.empty() || rows_.back().seed != of.seed) rows_.push_back({of.seed, values_.size(), 0});
    ++rows_.back().count;
    places_.push_back(of.column);
    values_.push_back(of.value);
  }
}

std::uint64_t each_flip(const SeedRows& rows, Flips flips, const std::function<void(const double* sums)>& visit) {
  if (flips != Flips::sampled) {
    ExactFlips exact(rows, visit);
    return exact(false) + (flips == Flips::all ? exact(true) : 0);
  }
  static_assert((random_flips + 1) % together == 0);
  std::vector<double> sums(rows.columns());
  SumsTogether several(rows.columns());
  PolledWork work;
  for (std::uint64_t first = 0; first <= random_flips; first += together) {
    add_sampled(rows, first, several, work);
    for (std::size_t flip = 0; flip < together; ++flip) {
      for (std::size_t i = 0; i < rows.columns(); ++i) sums[i] = several[i][flip];
      visit(sums.data());
      work.did(4 * rows.columns());
    }
  }
  return random_flips + 1;
}

double size_of_t(double n, double squares, double sum) {
  if (n < 2 || !(squares > 0)) return 0;
  const double c = std::min(1.0, sum * sum / (n * squares));
  return (n - 1) * c / ((n - 1) * c + (1 - c));
}

ScaledDifferences::ScaledDifferences(std::span<const double> differences)
    : n(static_cast<double>(differences.size())), scale(scale_of(differences)) {
  for (const double d : differences) {
    values.push_back(d / scale);
    sum += values.back();
    squares += values.back() * values.back();
  }
}

std::map<std::int64_t, std::size_t> rows_of(std::span<const SeedDifferences> arms) {
  std::map<std::int64_t, std::size_t> rows;
  for (const SeedDifferences& arm : arms)
    for (const std::int64_t seed : arm.seeds) rows.emplace(seed, 0);
  for (std::size_t next = 0; auto& [seed, row] : rows) row = next++;
  return rows;
}

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

} // namespace heed::statistics
