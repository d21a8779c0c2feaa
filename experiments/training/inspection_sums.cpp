// Implements the sums of introspection.hpp over weights, scores and outputs.
#include "experiments/training/introspection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace heed::HEED_REAL {

void HeadSums::add(const HeadSums& other) {
  entropy += other.entropy;
  distance += other.distance;
  first_key += other.first_key;
  queries += other.queries;
  later_queries += other.later_queries;
}

void add_query(HeadSums& sums, const Real* weights, std::int64_t stride, std::int64_t n, std::int64_t position) {
  double total = 0, entropy = 0, distance = 0;
  const auto size = [&](std::int64_t j) { return std::abs(static_cast<double>(weights[j * stride])); };
  for (std::int64_t j = 0; j < n; ++j) total += size(j);
  if (!(total > 0)) return;
  for (std::int64_t j = 0; j < n; ++j) {
    const double p = size(j) / total;
    if (p > 0) entropy -= p * std::log(p);
    distance += p * static_cast<double>(std::abs(position - j));
  }
  sums.entropy += entropy;
  sums.distance += distance;
  ++sums.queries;
  if (position == 0) return;
  sums.first_key += size(0) / total;
  ++sums.later_queries;
}

Spread spread_of(const Real* numbers, std::int64_t n) {
  const auto counts = [](Real x) { return x != -std::numeric_limits<Real>::infinity(); };
  Spread out;
  for (std::int64_t i = 0; i < n; ++i)
    if (counts(numbers[i])) {
      ++out.count;
      out.mean += static_cast<double>(numbers[i]);
    }
  if (out.count == 0) return out;
  out.mean /= static_cast<double>(out.count);
  for (std::int64_t i = 0; i < n; ++i)
    if (counts(numbers[i])) {
      const double from = static_cast<double>(numbers[i]) - out.mean;
      out.squares += from * from;
    }
  return out;
}

void Spread::add(const Spread& other) {
  if (other.count == 0) return;
  const auto n = static_cast<double>(count), m = static_cast<double>(other.count);
  const double apart = other.mean - mean;
  mean += apart * m / (n + m);
  squares += other.squares + apart * apart * n * m / (n + m);
  count += other.count;
}

std::optional<double> rank_residual(const Real* x, std::int64_t rows, std::int64_t width) {
  const auto w = static_cast<std::size_t>(width);
  std::vector<double> mean(w);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::size_t d = 0; d < w; ++d) mean[d] += static_cast<double>(x[i * width + static_cast<std::int64_t>(d)]);
  for (double& m : mean) m /= static_cast<double>(rows);
  // The product of the largest absolute row sum and the largest absolute column sum.
  const auto squared_norm = [&](bool without_mean) {
    std::vector<double> columns(w);
    double row = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (std::size_t d = 0; d < w; ++d) {
        const double size = std::abs(static_cast<double>(x[i * width + static_cast<std::int64_t>(d)]) -
                                     (without_mean ? mean[d] : 0));
        sum += size;
        columns[d] += size;
      }
      row = std::max(row, sum);
    }
    return row * *std::ranges::max_element(columns);
  };
  const double whole = squared_norm(false);
  if (!(whole > 0)) return {};
  return std::sqrt(squared_norm(true) / whole);
}

} // namespace heed::HEED_REAL
