#include "autograd/parameters.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <numeric>
#include <utility>
#include <vector>
#include <xxhash.h>

namespace heed::HEED_REAL {

namespace {

constexpr std::int64_t boundary = 64 / sizeof(Real);

double parameter_of(const Init& init, std::int64_t i) { return init.first == 0 || i < init.first ? init.a : init.b; }

// Each block of random bits gives two normal samples. The hash of the parameter's name selects its start in the
// sequence of 2^64 blocks.
void draw_normal(const RandomKey& key, std::uint64_t start, const Init& init, Real* values, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += 2) {
    const auto pair = normal_pair(key, start + static_cast<std::uint64_t>(i / 2));
    values[i] = static_cast<Real>(parameter_of(init, i) * pair[0]);
    if (i + 1 < n) values[i + 1] = static_cast<Real>(parameter_of(init, i + 1) * pair[1]);
  }
}

void draw_uniform(const RandomKey& key, std::uint64_t start, const Init& init, Real* values, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const RandomBlock block = random_block(key, start + static_cast<std::uint64_t>(i));
    const auto unit = static_cast<double>(unit_interval(block[0]));
    values[i] = static_cast<Real>(init.of ? init.of(unit) : parameter_of(init, i) * (2.0 * unit - 1.0));
  }
}

// Normal numbers, orthogonalised row by row, or column by column (Gram-Schmidt, twice for the digits).
void draw_orthogonal(const RandomKey& key, std::uint64_t start, const Init& init, const Shape& shape, Real* values) {
  const auto rows = static_cast<std::size_t>(shape[0]), columns = static_cast<std::size_t>(shape[1]),
             count = std::min(rows, columns), length = std::max(rows, columns);
  std::vector<std::vector<double>> all(count, std::vector<double>(length));
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double>& own = all[i];
    for (std::size_t c = 0; c < length; ++c) {
      const std::size_t at = i * length + c;
      own[c] = normal_pair(key, start + at / 2)[at % 2];
    }
    const auto product = [&](const std::vector<double>& other) {
      double sum = 0;
      for (std::size_t c = 0; c < length; ++c) sum += own[c] * other[c];
      return sum;
    };
    for (std::size_t j = 0; j < 2 * i; ++j) {
      const std::vector<double>& other = all[j % i];
      const double along = product(other);
      for (std::size_t c = 0; c < length; ++c) own[c] -= along * other[c];
    }
    const double norm = std::sqrt(product(own));
    for (double& number : own) number /= norm;
  }
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < length; ++c)
      values[rows <= columns ? i * length + c : c * count + i] = static_cast<Real>(init.a * all[i][c]);
}

} // namespace

ParameterId Parameters::add(std::string name, const Shape& shape, const Init& init, WeightDecay decay,
                            std::string module, bool is_map) {
  if (find(name)) throw Failed(fmt::format("[parameters] there is already a parameter named \"{}\"", name));
  if (init.kind == Init::Kind::listed && std::ssize(init.numbers) != shape.size())
    throw Failed(fmt::format("[parameters] \"{}\" has {} numbers, and {} to start with", name, shape.size(),
                             init.numbers.size()));
  entries_.push_back({std::move(name), shape, init, extent_, decay, std::move(module), is_map});
  extent_ += (shape.size() + boundary - 1) / boundary * boundary;
  return {entries_.size() - 1};
}

void Parameters::set_parts(ParameterId id, std::vector<std::int64_t> rows) {
  Entry& entry = entries_[id.index];
  if (entry.shape.rank != 2 || std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) != entry.shape[0])
    throw Failed(fmt::format("[parameters] \"{}\" {} does not have {} rows in parts", entry.name, entry.shape.text(),
                             fmt::join(rows, " + ")));
  entry.parts = std::move(rows);
}

void Parameters::initialise(std::uint64_t seed) {
  const RandomKey key{seed, Stream::init, 0};
  std::fill_n(values(), extent_, Real{0});
  for (const Entry& e : entries_) {
    Real* const values = values_.data() + e.offset;
    const std::int64_t n = e.shape.size();
    const std::uint64_t start = XXH3_64bits(e.name.data(), e.name.size());
    switch (e.init.kind) {
      case Init::Kind::constant: std::fill_n(values, n, static_cast<Real>(e.init.a)); break;
      case Init::Kind::normal: draw_normal(key, start, e.init, values, n); break;
      case Init::Kind::of_uniform:
      case Init::Kind::uniform: draw_uniform(key, start, e.init, values, n); break;
      case Init::Kind::orthogonal: draw_orthogonal(key, start, e.init, e.shape, values); break;
      case Init::Kind::listed: std::copy(e.init.numbers.begin(), e.init.numbers.end(), values); break;
    }
  }
}

const Parameters::Entry* Parameters::find(std::string_view name) const {
  for (const Entry& e : entries_)
    if (e.name == name) return &e;
  return nullptr;
}

std::int64_t Parameters::count() const {
  std::int64_t n = 0;
  for (const Entry& e : entries_) n += e.shape.size();
  return n;
}

} // namespace heed::HEED_REAL
