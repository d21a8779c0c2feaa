// The contract of the random number generator: published bits, keyed streams, and the stated ranges and moments.
#include "autograd/rng.hpp"
#include "tests/catch.hpp"

#include <Random123/philox.h>

#include <set>
#include <vector>

using namespace heed;

namespace {

r123::Philox4x32::ctr_type philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  return r123::Philox4x32{}({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
}

RandomBlock words(const r123::Philox4x32::ctr_type& block) { return {block.v[0], block.v[1], block.v[2], block.v[3]}; }

} // namespace

// Random123's own kat_vectors file, lines "philox4x32 10".
TEST_CASE("Philox4x32-10 gives Random123's published vectors", "[rng]") {
  CHECK(words(philox({0, 0, 0, 0}, {0, 0})) == RandomBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(words(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff})) ==
        RandomBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(words(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0})) ==
        RandomBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a key and a position are Philox's key and counter", "[rng]") {
  // The published vectors again, through the interface: the seed is the key; position, step and stream are the counter.
  const auto stream = [](unsigned number) { return static_cast<Stream>(number); };
  CHECK(random_block({0, stream(0), 0}, 0) == RandomBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(random_block({~0ULL, stream(0xffff), 0xffff'ffff'ffffULL}, ~0ULL) ==
        RandomBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(random_block({0x299f31d0'a4093822ULL, stream(0x0370), 0x7344'13198a2eULL}, 0x85a308d3'243f6a88ULL) ==
        RandomBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("seed, stream, step and position each change the block, in their high and low words", "[rng]") {
  const std::uint64_t high = 1ULL << 40;
  std::set<RandomBlock> seen;
  for (const RandomKey& key :
       {RandomKey{0, Stream::init, 0}, RandomKey{1, Stream::init, 0}, RandomKey{high, Stream::init, 0},
        RandomKey{0, Stream::dropout, 0}, RandomKey{0, Stream::init, 1}, RandomKey{0, Stream::init, high}})
    for (std::uint64_t position : {0ULL, 1ULL, 1ULL << 40}) seen.insert(random_block(key, position));
  CHECK(seen.size() == 6 * 3);
}

TEST_CASE("bits become numbers in the stated ranges", "[rng]") {
  CHECK(unit_interval(std::uint64_t{0}) == 0.0);
  CHECK(unit_interval(~std::uint64_t{0}) == 1.0 - 0x1p-53);
  CHECK(unit_interval(std::uint64_t{1} << 63) == 0.5);
  CHECK(unit_interval(std::uint32_t{0}) == 0.0f);
  CHECK(unit_interval(~std::uint32_t{0}) == 1.0f - 0x1p-24f);
  CHECK(unit_interval(std::uint32_t{1} << 31) == 0.5f);
  CHECK(scaled_below(0, 10) == 0);
  CHECK(scaled_below(~std::uint64_t{0}, 10) == 9);
  CHECK(scaled_below(~std::uint64_t{0}, 1) == 0);
  CHECK(scaled_below(~std::uint64_t{0}, ~std::uint64_t{0}) == ~std::uint64_t{0} - 1);
}

TEST_CASE("uniform numbers have the moments of the uniform distribution", "[rng]") {
  const RandomKey key{5, Stream::test, 3};
  constexpr int n = 100000;
  double sum = 0, squares = 0, lag = 0, before = 0.5;
  for (int i = 0; i < n; ++i) {
    const double u = uniform(key, static_cast<std::uint64_t>(i));
    REQUIRE((u >= 0.0 && u < 1.0));
    sum += u;
    squares += u * u;
    lag += (u - 0.5) * (before - 0.5);
    before = u;
  }
  // Five standard errors: of the mean sqrt(1/12/n), of the second moment sqrt(4/45/n), of the lagged product
  // 1/12/sqrt(n).
  CHECK(std::abs(sum / n - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
  CHECK(std::abs(squares / n - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / n));
  CHECK(std::abs(lag / n) < 5.0 / 12 / std::sqrt(n));
}

TEST_CASE("normal numbers have the moments of the normal distribution, and the pair is uncorrelated", "[rng]") {
  const RandomKey key{6, Stream::test, 0};
  constexpr int n = 100000;
  std::array<double, 2> mean{}, square{}, fourth{};
  double product = 0;
  for (int i = 0; i < n; ++i) {
    const auto z = normal_pair(key, static_cast<std::uint64_t>(i));
    REQUIRE(normal(key, static_cast<std::uint64_t>(i)) == z[0]);
    for (std::size_t j = 0; j < 2; ++j) {
      REQUIRE(std::isfinite(z[j]));
      mean[j] += z[j] / n;
      square[j] += z[j] * z[j] / n;
      fourth[j] += z[j] * z[j] * z[j] * z[j] / n;
    }
    product += z[0] * z[1] / n;
  }
  // Five standard errors: E z = 0 (variance 1), E z^2 = 1 (variance 2), E z^4 = 3 (variance 96), E z0 z1 = 0
  // (variance 1).
  for (std::size_t j = 0; j < 2; ++j) {
    CHECK(std::abs(mean[j]) < 5 * std::sqrt(1.0 / n));
    CHECK(std::abs(square[j] - 1) < 5 * std::sqrt(2.0 / n));
    CHECK(std::abs(fourth[j] - 3) < 5 * std::sqrt(96.0 / n));
  }
  CHECK(std::abs(product) < 5 * std::sqrt(1.0 / n));
}

TEST_CASE("whole numbers below n are even over [0, n)", "[rng]") {
  const RandomKey key{7, Stream::test, 0};
  constexpr std::uint64_t n = 7;
  constexpr int draws = 70000;
  std::vector<int> count(n);
  for (int i = 0; i < draws; ++i) ++count[below(key, static_cast<std::uint64_t>(i), n)];
  double chi_square = 0;
  for (int c : count) chi_square += (c - 10000.0) * (c - 10000.0) / 10000.0;
  CHECK(chi_square < 22.46); // the 99.9 % quantile with 6 degrees of freedom
}

TEST_CASE("a source walks the positions of its key", "[rng]") {
  const RandomKey key{8, Stream::sampling, 2};
  RandomSource source(key, 40);
  CHECK(source.uniform() == uniform(key, 40));
  CHECK(source.normal() == normal(key, 41));
  CHECK(source.below(1000) == below(key, 42, 1000));
  CHECK(source.position() == 43);
}
