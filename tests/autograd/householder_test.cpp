// Products with Householder matrices between query and key: they equal plain loops, for all sizes, for queries after
// other keys, on several threads, and for each sequence alone.
#include "autograd/householder.hpp"
#include "autograd/thread_pool.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/catch.hpp"

#include <cmath>
#include <fmt/format.h>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

struct HouseholderCase {
  std::int64_t batch, heads, queries, keys, matrices, width;
  Operand q{{batch, heads, queries, width}, 1, {-1, 1}}, k{{batch, heads, keys, width}, 2, {-1, 1}},
      w{{batch, heads, matrices, width}, 3, {-1, 1}}, b{{batch, heads, matrices, 1}, 4, {0, 2}};

  HouseholderCase(std::int64_t batch_size, std::int64_t head_count, std::int64_t query_count, std::int64_t key_count,
                  std::int64_t matrix_count, std::int64_t head_width)
      : batch(batch_size), heads(head_count), queries(query_count), keys(key_count), matrices(matrix_count),
        width(head_width) {
    for (std::int64_t row = 0; row < batch * heads * matrices; ++row) { // directions have length 1
      Real* const at = w.values.data() + row * width;
      double squares = 0;
      for (std::int64_t d = 0; d < width; ++d) squares += static_cast<double>(at[d]) * static_cast<double>(at[d]);
      for (std::int64_t d = 0; d < width; ++d)
        at[d] = static_cast<Real>(static_cast<double>(at[d]) / std::sqrt(squares));
    }
  }

  std::string text() const {
    return fmt::format("{} x {}, {} queries, {} keys, {} matrices, width {}", batch, heads, queries, keys, matrices,
                       width);
  }
  Tensor on(Tape& tape) {
    return householder_products(q.on(tape), k.on(tape), {.directions = w.on(tape), .strengths = b.on(tape)});
  }
  std::vector<Real> run() {
    Tape tape;
    return read(on(tape));
  }
  // H_t ... H_(j + 1) k_j
  std::vector<double> key(std::int64_t head, std::int64_t j, std::int64_t t) const {
    const auto at = k.values.begin() + (head * keys + j) * width;
    std::vector<double> x(at, at + width);
    const std::int64_t first = keys - matrices;
    for (std::int64_t n = std::max(j + 1, first); n <= t; ++n) {
      const Real* const of = w.values.data() + (head * matrices + n - first) * width;
      double dot = 0;
      for (std::size_t d = 0; d < x.size(); ++d) dot += static_cast<double>(of[d]) * x[d];
      dot *= static_cast<double>(b.values[static_cast<std::size_t>(head * matrices + n - first)]);
      for (std::size_t d = 0; d < x.size(); ++d) x[d] -= dot * static_cast<double>(of[d]);
    }
    return x;
  }
  std::vector<double> in_plain_loops() const {
    std::vector<double> out;
    for (std::int64_t head = 0; head < batch * heads; ++head)
      for (std::int64_t i = 0; i < queries; ++i)
        for (std::int64_t j = 0; j < keys; ++j) {
          const std::int64_t at = keys - queries + i;
          out.push_back(0);
          if (j > at) continue;
          const std::vector<double> x = key(head, j, at);
          for (std::int64_t d = 0; d < width; ++d)
            out.back() += x[static_cast<std::size_t>(d)] *
                          static_cast<double>(q.values[static_cast<std::size_t>((head * queries + i) * width + d)]);
        }
    return out;
  }
};

std::vector<HouseholderCase> householder_cases() {
  std::vector<HouseholderCase> out;
  for (const std::int64_t keys : {1, 2, 63, 64, 65, 130})
    for (const std::int64_t width : {1, 5, 16}) out.emplace_back(2, 2, keys, keys, keys, width);
  out.emplace_back(2, 2, 1, 40, 1, 5); // steps of decoding
  out.emplace_back(2, 1, 7, 40, 7, 5);
  out.emplace_back(2, 1, 70, 100, 70, 5);
  out.emplace_back(1, 2, 20, 140, 140, 5); // some queries of a sequence
  out.emplace_back(1, 2, 90, 200, 195, 5);
  out.emplace_back(1, 2, 3, 200, 129, 5);
  return out;
}

} // namespace

TEST_CASE("products with Householder matrices equal plain loops", "[householder]") {
  for (HouseholderCase& c : householder_cases()) {
    INFO(c.text());
    CHECK(distance(c.run(), c.in_plain_loops()) < 10 * rounding);
  }
}

TEST_CASE("products with Householder matrices are those of views, and have the same bits without a gradient",
          "[householder]") {
  HouseholderCase c(2, 3, 140, 140, 140, 6);
  Tape tape;
  const Tensor q = c.q.on(tape), k = c.k.on(tape), w = c.w.on(tape), b = c.b.on(tape);
  const std::vector<Real> expected = read(householder_products(q, k, {.directions = w, .strengths = b}));
  const auto by_token = [](const Tensor& x) { return transpose(contiguous(transpose(x, 1, 2)), 1, 2); };
  const auto by_feature = [](const Tensor& x) { return transpose(contiguous(transpose(x))); };
  CHECK(read(householder_products(by_token(q), by_token(k), {by_token(w), by_token(b)})) == expected);
  CHECK(read(householder_products(by_feature(q), by_feature(k), {by_feature(w), by_feature(b)})) == expected);
  tape.record(false);
  CHECK(read(householder_products(q, k, {.directions = w, .strengths = b})) == expected);
}

TEST_CASE("some of the queries share the blocks of all matrices, and get the same numbers", "[householder]") {
  HouseholderCase c(2, 2, 150, 150, 150, 6);
  const std::vector<double> expected = c.in_plain_loops();
  Tape tape;
  const Tensor q = c.q.on(tape), k = c.k.on(tape), w = c.w.on(tape), b = c.b.on(tape);
  const Tensor blocks = householder_blocks(k, {w, b});
  CHECK(blocks.shape == Shape{2, 2, 2, 70, 6});
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 30}, {30, 50}, {80, 60}, {140, 10}}) {
    const std::int64_t keys = first + count;
    const auto start = [&](const Tensor& x) { return slice(x, 2, 0, keys); };
    const Tensor found = householder_products(slice(q, 2, first, count), start(k), {start(w), start(b), blocks});
    std::vector<double> part;
    for (std::int64_t head = 0; head < 4; ++head)
      for (std::int64_t i = first; i < keys; ++i) {
        const auto row = expected.begin() + (head * 150 + i) * 150;
        part.insert(part.end(), row, row + keys);
      }
    CHECK(distance(read(found), part) < 10 * rounding);
  }
}

TEST_CASE("keys after all matrices are those of later queries", "[householder]") {
  for (HouseholderCase& c : householder_cases()) {
    INFO(c.text());
    Tape tape;
    const std::vector<Real> found = read(householder_keys(c.k.on(tape), {c.w.on(tape), c.b.on(tape)}));
    std::vector<double> expected;
    for (std::int64_t head = 0; head < c.batch * c.heads; ++head)
      for (std::int64_t j = 0; j < c.keys; ++j)
        for (const double each : c.key(head, j, c.keys - 1)) expected.push_back(each);
    CHECK(distance(found, expected) < 10 * rounding);
  }
}

TEST_CASE("products with Householder matrices and their gradients have the same bits in several parts, and for a "
          "sequence alone",
          "[householder]") {
  HouseholderCase c(3, 2, 150, 170, 170, 5);
  const auto all = [&](int parts) {
    std::vector<Real> out;
    const CutEverything cut(parts);
    Tape tape;
    const Tensor y = c.on(tape);
    out = read(y);
    tape.backward(sum(mul(y, y)));
    for (const Operand* x : {&c.q, &c.k, &c.w, &c.b}) out.insert(out.end(), x->gradient.begin(), x->gradient.end());
    return out;
  };
  const std::vector<Real> one = all(1);
  CHECK(all(4) == one);
  CHECK(all(6) == one);
  HouseholderCase alone(1, 2, 150, 170, 170, 5);
  const auto second = [](const Operand& from, Operand& to) {
    const auto n = static_cast<std::ptrdiff_t>(to.values.size());
    std::copy(from.values.begin() + n, from.values.begin() + 2 * n, to.values.begin());
  };
  second(c.q, alone.q);
  second(c.k, alone.k);
  second(c.w, alone.w);
  second(c.b, alone.b);
  const std::vector<Real> found = alone.run(), whole = c.run();
  const auto n = static_cast<std::ptrdiff_t>(found.size());
  CHECK(std::vector<Real>(whole.begin() + n, whole.begin() + 2 * n) == found);
}

TEST_CASE("without strength, products with Householder matrices are products; with a strength of 2 they keep lengths",
          "[householder]") {
  HouseholderCase c(1, 2, 70, 70, 70, 6);
  std::fill(c.b.values.begin(), c.b.values.end(), Real{0});
  Tape tape;
  const Tensor plain = matmul(c.q.on(tape), transpose(c.k.on(tape)));
  const std::vector<Real> found = c.run(), expected = read(plain);
  for (std::size_t n = 0; n < found.size(); ++n)
    if (n % 70 <= n / 70 % 70) CHECK(std::abs(found[n] - expected[n]) < static_cast<Real>(10 * rounding));
  // Equal directions: each reflection takes the last one back.
  std::fill(c.b.values.begin(), c.b.values.end(), Real{2});
  for (std::int64_t row = 0; row < 140; ++row) std::copy_n(c.w.values.begin(), 6, c.w.values.begin() + row * 6);
  const std::vector<Real> reflected = c.run();
  for (std::size_t n = 0; n < reflected.size(); ++n) {
    const std::size_t j = n % 70, i = n / 70 % 70;
    if (j <= i && (i - j) % 2 == 0) CHECK(std::abs(reflected[n] - expected[n]) < 70 * static_cast<Real>(10 * rounding));
  }
}

TEST_CASE("Householder matrices of other sizes are refused", "[householder]") {
  Tape tape;
  HouseholderCase c(1, 2, 4, 4, 4, 3), fewer(1, 2, 4, 4, 3, 3), wide(1, 2, 4, 4, 4, 5);
  CHECK_THROWS_WITH(fewer.on(tape), Catch::Contains("[householder_products]") && Catch::Contains("at most R queries"));
  CHECK_THROWS_WITH(householder_products(c.q.on(tape), c.k.on(tape), {wide.w.on(tape), c.b.on(tape)}),
                    Catch::Contains("[householder_") && Catch::Contains("w is [1, 2, 4, 5]"));
}
