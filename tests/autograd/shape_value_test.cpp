// Values of shape operations, embedding, masked fill and dropout, element by element.
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"

#include <limits>
#include <numeric>

using namespace heed;
using namespace heed::HEED_REAL;

TEST_CASE("shape operations place every element as plain indices do", "[value]") {
  Tape tape;
  std::vector<Real> numbers(24);
  std::iota(numbers.begin(), numbers.end(), Real{0});
  Operand x({2, 3, 4}, numbers);
  const Tensor t = x.on(tape);
  const auto at = [](int i, int j, int k) { return static_cast<Real>(12 * i + 4 * j + k); };

  std::vector<Real> expected;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) expected.push_back(at(i, j, k));
  CHECK(read(transpose(t, 0, 2)) == expected);
  CHECK(read(contiguous(transpose(t, 0, 2))) == expected);
  CHECK(read(reshape(transpose(t, 0, 2), {-1})) == expected);

  expected.clear();
  for (int i = 0; i < 2; ++i)
    for (int j = 1; j < 3; ++j)
      for (int k = 0; k < 4; ++k) expected.push_back(at(i, j, k));
  CHECK(read(slice(t, 1, 1, 2)) == expected);
  CHECK(read(slice(slice(t, -2, 0, 3), 1, 1, 2)) == expected);

  expected.clear();
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k : {3, 0, 1, 2, 3}) expected.push_back(at(i, j, k));
  const Tensor joined = concat({slice(t, 2, 3, 1), t}, -1);
  CHECK(joined.shape == Shape{2, 3, 5});
  CHECK(read(joined) == expected);

  CHECK(unsqueeze(t, 0).shape == Shape{1, 2, 3, 4});
  CHECK(unsqueeze(t, 3).shape == Shape{2, 3, 4, 1});
  CHECK(unsqueeze(t, -1).shape == Shape{2, 3, 4, 1});
  CHECK(unsqueeze(t, -4).shape == Shape{1, 2, 3, 4});
  CHECK(reshape(t, {4, -1}).shape == Shape{4, 6});
  CHECK(reshape(sum(t), {1, 1}).shape == Shape{1, 1});
}

TEST_CASE("views share memory, and copies are made only where they must be", "[value]") {
  Tape tape;
  Operand x({2, 3, 4}, 1);
  const Tensor t = x.on(tape);
  CHECK(transpose(t).data == t.data);
  CHECK(slice(t, 0, 1, 1).data == t.data + 12);
  CHECK(reshape(t, {6, 4}).data == t.data);
  CHECK(unsqueeze(t, 1).data == t.data);
  CHECK(contiguous(t).data == t.data);
  CHECK(contiguous(slice(t, 0, 1, 1)).data == t.data + 12);
  CHECK(contiguous(transpose(t)).data != t.data);
  CHECK(reshape(transpose(t), {24}).data != t.data);
}

TEST_CASE("embedding and masked fill pick what they are told", "[value]") {
  Tape tape;
  Operand table({3, 2}, {0, 1, 10, 11, 20, 21});
  const std::int32_t tokens[] = {2, 0, 2, 1};
  const Tensor y = embedding(table.on(tape), tokens, {2, 2});
  CHECK(y.shape == Shape{2, 2, 2});
  CHECK(read(y) == std::vector<Real>{20, 21, 0, 1, 20, 21, 10, 11});
  const std::uint8_t where[] = {0, 1, 0, 0, 255, 0};
  CHECK(apply({1, 2, 3, 4, 5, 6}, {2, 3}, [&](const Tensor& x) { return masked_fill(x, where, Real(-1)); }) ==
        std::vector<Real>{1, -1, 3, 4, -1, 6});
  const Real low = -std::numeric_limits<Real>::infinity();
  CHECK(apply({1, 2, 3}, {3}, [&](const Tensor& x) { return masked_fill(x, where, low); })[1] == low);
}

TEST_CASE("dropout keeps the stated share, scaled, and is decided by key and number alone", "[value]") {
  Tape tape;
  const RandomKey key{3, Stream::dropout, 7};
  const std::int64_t n = 20000;
  Operand ones({n}, std::vector<Real>(static_cast<std::size_t>(n), 1));
  const Tensor x = ones.on(tape);
  for (double probability : {0.1, 0.5, 0.9}) {
    const std::vector<Real> y = read(dropout(x, probability, key, 0));
    std::int64_t kept = 0;
    for (Real v : y) {
      CHECK((v == 0 || v == static_cast<Real>(1 / (1 - probability))));
      kept += v != 0;
    }
    // Six standard deviations of binomial counts: of kept elements, and of neighbours of which exactly one is kept.
    const auto close = [&](std::int64_t count, double share) {
      return std::abs(static_cast<double>(count) - static_cast<double>(n) * share) <
             6 * std::sqrt(static_cast<double>(n) * share * (1 - share));
    };
    CHECK(close(kept, 1 - probability));
    for (std::size_t apart : {1U, 2U, 3U, 4U}) {
      std::int64_t differ = 0;
      for (std::size_t i = 0; i + apart < y.size(); ++i) differ += y[i] != y[i + apart];
      CHECK(close(differ, 2 * probability * (1 - probability)));
    }
  }
  const std::vector<Real> whole = read(dropout(x, 0.5, key, 0));
  for (std::int64_t first : {1, 2, 3, 4, 101}) {
    const std::vector<Real> part = read(dropout(slice(x, 0, 0, 50), 0.5, key, static_cast<std::uint64_t>(first)));
    CHECK(std::equal(part.begin(), part.end(), whole.begin() + first));
  }
  CHECK(read(dropout(x, 0.5, {3, Stream::dropout, 8}, 0)) != whole);
  CHECK(read(dropout(x, 0, key, 0)) == ones.values);
}
