// Test helpers that pair values of runs with consecutive seeds.
#pragma once

#include "experiments/statistics/flips.hpp"

#include <cstdint>
#include <utility>
#include <vector>

/// @tparam Seeded  SeedValues or SeedDifferences
template <class Seeded> Seeded seeded(std::vector<double> values, std::int64_t first_seed = 0) {
  Seeded out;
  for (std::size_t i = 0; i < values.size(); ++i) out.seeds.push_back(first_seed + static_cast<std::int64_t>(i));
  out.values = std::move(values);
  return out;
}

/// The differences between an arm and its reference, one for each seed.
inline heed::statistics::SeedDifferences arm(std::vector<double> values, std::int64_t first_seed = 0) {
  return seeded<heed::statistics::SeedDifferences>(std::move(values), first_seed);
}
