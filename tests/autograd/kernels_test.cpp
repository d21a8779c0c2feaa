// Compares the building blocks of the kernels with plain loops in double.
#include "autograd/kernels/random_blocks.hpp"
#include "autograd/kernels/exponential.hpp"
#include "autograd/kernels/formula_operations.hpp"
#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/packed_product.hpp"
#include "autograd/rng.hpp"
#include "tests/autograd/close.hpp"

#include <cmath>
#include <functional>
#include <vector>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr double epsilon = std::numeric_limits<Real>::epsilon();

Real exponential_of(Real x) { return exponential(Simd(x)).get(0); }

std::vector<Real> drawn(std::int64_t n, std::uint64_t seed) {
  std::vector<Real> out(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<Real>(normal({.seed = seed, .stream = Stream::test, .step = 0}, i));
  return out;
}

// A matrix [rows, columns] in memory with gaps between its rows, or the transpose of such a matrix.
struct Stored {
  std::vector<Real> memory;
  Matrix matrix;
  Stored(std::int64_t rows, std::int64_t columns, bool transposed, std::uint64_t seed)
      : memory(drawn((transposed ? columns * (rows + 3) : rows * (columns + 3)) + 1, seed)),
        matrix{memory.data(), rows, columns, transposed ? 1 : columns + 3, transposed ? rows + 3 : 1} {}
  Real& at(std::int64_t i, std::int64_t j) { return matrix.p[i * matrix.row_stride + j * matrix.column_stride]; }
};

using Multiply = std::function<void(const Matrix&, const Matrix&, const Matrix&)>;

// Compares c from `multiply` with alpha a b + start(i, j), summed in double, for all memory layouts of a and b.
void check_products(std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const Multiply& multiply,
                    const std::function<double(std::int64_t, std::int64_t, double)>& start) {
  for (const bool a_transposed : {false, true})
    for (const bool b_transposed : {false, true}) {
      Stored a(m, k, a_transposed, 1), b(k, n, b_transposed, 2), c(m, n, false, 3);
      Stored before = c;
      before.matrix.p = before.memory.data();
      multiply(a.matrix, b.matrix, c.matrix);
      double worst = 0;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n + 3; ++j) {
          if (j >= n) { // the gaps between rows must not be written
            if (i + 1 < m) REQUIRE(c.at(i, j) == before.at(i, j));
            continue;
          }
          double sum = 0, size = 0;
          for (std::int64_t l = 0; l < k; ++l) {
            const double term = alpha * double{a.at(i, l)} * double{b.at(l, j)};
            sum += term;
            size += std::abs(term);
          }
          const double from = start(i, j, double{before.at(i, j)});
          worst = std::max(worst, std::abs(double{c.at(i, j)} - (sum + from)) / (size + std::abs(from) + 1e-30));
        }
      CAPTURE(m, n, k, a_transposed, b_transposed);
      // The rounding error of a sum of k terms is at most k epsilon times the size of the terms, and usually about
      // sqrt(k) epsilon.
      CHECK(worst < 8 * epsilon * std::sqrt(static_cast<double>(k)));
    }
}

} // namespace

TEST_CASE("exponential is exp within two units in the last place") {
  double worst = 0;
  for (double x = -86.6; x < 88.7; x += 0.00137) {
    const auto rounded = static_cast<Real>(x);
    const double exact = std::exp(double{rounded});
    worst = std::max(worst, std::abs(double{exponential_of(rounded)} - exact) / exact);
  }
  CHECK(worst <= 2 * epsilon);
  CHECK(exponential_of(0) == 1);
}

TEST_CASE("exponential at its ends: zero, infinity and NaN") {
  CHECK(exponential_of(-infinity) == 0);
  CHECK(exponential_of(Real(-1e30)) == 0);
  CHECK(exponential_of(infinity) == infinity);
  CHECK(exponential_of(Real(1e30)) == infinity);
  CHECK(std::isnan(exponential_of(std::numeric_limits<Real>::quiet_NaN())));
}

TEST_CASE("the normal distribution is that of erfc") {
  for (double x = -6; x < 6; x += 0.0011) {
    const auto rounded = static_cast<Real>(x);
    const double square = double{rounded} * double{rounded};
    const Normal got = normal_distribution(Simd(rounded));
    const double cdf = 0.5 * std::erfc(-double{rounded} / std::sqrt(2.0));
    const double density = std::exp(-0.5 * square) / std::sqrt(2 * std::acos(-1.0));
    // A relative rounding error epsilon of x^2 / 2 changes its exponential by x^2 / 2 times epsilon.
    const double tolerance = epsilon * (8 + square);
    CAPTURE(x);
    // In double, the tail is xsimd's erfc, whose error is relative to 1 and not to the tail.
    REQUIRE(std::abs(double{got.cdf.get(0)} - cdf) <= tolerance * (std::is_same_v<Real, double> ? 1 : cdf));
    REQUIRE(std::abs(double{got.density.get(0)} - density) <= tolerance * density);
  }
}

TEST_CASE("products of every small extent, and of some around the blocks' edges") {
  const auto plain = [](const Matrix& a, const Matrix& b, const Matrix& c) { gemm(a, b, c); };
  const auto nothing = [](auto, auto, double) { return 0.0; };
  for (std::int64_t m : {1, 2, 3, 4, 5, 6, 7, 13})
    for (std::int64_t n : {1, 3, 15, 16, 17, 33, 48, 63, 64, 65, 80})
      for (std::int64_t k : {1, 2, 7, 32}) check_products(m, n, k, 1, plain, nothing);
  check_products(241, 70, 257, 1, plain, nothing);
  check_products(9, 530, 300, 1, plain, nothing);
  check_products(530, 20, 20, 1, plain, nothing); // columns of a are far apart
  check_products(77, 96, 31, 1, plain, nothing);
}

TEST_CASE("products scaled, and added to what is there or to a row") {
  for (const auto& [m, n, k] : {std::tuple{1, 23, 9}, {3, 70, 300}, {5, 19, 7}, {50, 65, 300}}) {
    check_products(
        m, n, k, 0.5, [](const Matrix& a, const Matrix& b, const Matrix& c) { gemm(a, b, c, Real(0.5), 1); },
        [](auto, auto, double there) { return there; });
    check_products(
        m, n, k, 1, [](const Matrix& a, const Matrix& b, const Matrix& c) { gemm(a, b, c, 1, Real(0.25)); },
        [](auto, auto, double there) { return 0.25 * there; });
    const std::vector<Real> row = drawn(n, 9);
    check_products(
        m, n, k, 1, [&](const Matrix& a, const Matrix& b, const Matrix& c) { gemm_onto_row(a, b, row.data(), c); },
        [&](auto, std::int64_t j, double) { return double{row[static_cast<std::size_t>(j)]}; });
  }
}

TEST_CASE("some rows of a product by themselves have the bits that they have among others") {
  if (!own_product) return; // BLAS does not guarantee it
  for (const bool b_transposed : {false, true})
    for (const auto& [n, k] : {std::pair{1, 5}, {23, 9}, {70, 300}, {530, 257}}) {
      Stored a(9, k, false, 1), b(k, n, b_transposed, 2), whole(9, n, false, 3), onto(9, n, false, 4);
      const std::vector<Real> row = drawn(n, 9);
      gemm(a.matrix, b.matrix, whole.matrix);
      gemm_onto_row(a.matrix, b.matrix, row.data(), onto.matrix);
      for (std::int64_t rows = 1; rows <= 6; ++rows) {
        Stored some(rows, n, false, 5), some_onto(rows, n, false, 6);
        const Matrix above{a.matrix.p, rows, k, a.matrix.row_stride, a.matrix.column_stride};
        gemm(above, b.matrix, some.matrix);
        gemm_onto_row(above, b.matrix, row.data(), some_onto.matrix);
        std::int64_t others = 0;
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            others += some.at(i, j) != whole.at(i, j) || some_onto.at(i, j) != onto.at(i, j);
        CAPTURE(b_transposed, n, k, rows);
        CHECK(others == 0);
      }
    }
}

TEST_CASE("a matrix that is packed once gives the products of the matrix itself, bit for bit") {
  if (!own_product) return; // BLAS gives different bits
  for (const bool b_transposed : {false, true})
    for (const auto& [n, k] : {std::pair{1, 5}, {23, 9}, {70, 300}, {530, 257}, {1100, 600}}) {
      Stored a(13, k, false, 1), b(k, n, b_transposed, 2), whole(13, n, false, 3), packed(13, n, false, 3);
      const std::vector<Real> row = drawn(n, 9);
      std::vector<Real> memory(static_cast<std::size_t>(packed_size(k, n)));
      const PackedMatrix once = pack_matrix(b.matrix, memory.data());
      const auto same = [&, columns = n] {
        for (std::int64_t i = 0; i < 13; ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            if (packed.at(i, j) != whole.at(i, j)) return false;
        return true;
      };
      CAPTURE(b_transposed, n, k);
      gemm(a.matrix, b.matrix, whole.matrix);
      gemm(a.matrix, once, packed.matrix);
      CHECK(same());
      gemm(a.matrix, b.matrix, whole.matrix, 1, 1);
      gemm(a.matrix, once, packed.matrix, 1);
      CHECK(same());
      gemm_onto_row(a.matrix, b.matrix, row.data(), whole.matrix);
      gemm_onto_row(a.matrix, once, row.data(), packed.matrix);
      CHECK(same());
    }
}

TEST_CASE("a product into columns, and one by BLAS, are the same product") {
  const std::int64_t m = 20, n = 30, k = 40;
  Stored a(m, k, false, 1), b(k, n, true, 2), rows(m, n, false, 3), columns(m, n, true, 4), blas(m, n, false, 5);
  gemm(a.matrix, b.matrix, rows.matrix);
  gemm(a.matrix, b.matrix, columns.matrix);
  blas_gemm(a.matrix, b.matrix, blas.matrix);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      CHECK(columns.at(i, j) == Approx(rows.at(i, j)).epsilon(1e-4).margin(1e-4));
      CHECK(blas.at(i, j) == Approx(rows.at(i, j)).epsilon(1e-4).margin(1e-4));
    }
}

TEST_CASE("random words in vectors are those of one block after the other, wherever they begin") {
  for (const RandomKey& key :
       {RandomKey{.seed = 1, .stream = Stream::dropout, .step = 0},
        RandomKey{.seed = 0xfedc'ba98'7654'3210ULL, .stream = Stream::test, .step = (1ULL << 48) - 1}})
    for (const std::uint64_t first : {0ULL, 1ULL, 3ULL, 6ULL, (1ULL << 34) - 6, (1ULL << 63) + 5})
      for (const std::int64_t n : {0, 1, 2, 4, 5, 31, 64, 200}) {
        INFO("from " << first << ", " << n << " elements");
        std::vector<std::uint32_t> found, expected;
        each_random_words(key, first, n, [&](std::int64_t i, const std::uint32_t* words, std::int64_t some) {
          REQUIRE(i == std::ssize(found));
          found.insert(found.end(), words, words + some);
        });
        for (std::uint64_t i = first; i < first + static_cast<std::uint64_t>(n); ++i)
          expected.push_back(random_block(key, i / 4)[i % 4]);
        CHECK(found == expected);
      }
}

TEST_CASE("each operation of formulas has the operands and gradients that the list of operations says",
          "[autograd][formula]") {
  using namespace formula_operations;
  for (const FormulaOperation& operation : formula_operation_list) {
    INFO(static_cast<int>(operation.op));
    int operands = 0;
    bool gradient = false;
    with_row(operation.op, [&]<class Row>(Row) {
      operands = is_unary<Row> ? 1 : 2;
      gradient = has_gradients<Row>;
    });
    // has no row function: the kernel selects the operand tile by tile
    if (operation.op == FormulaOp::choice) CHECK(operands == 0);
    else CHECK(std::pair(operands, gradient) == std::pair(operation.operands, operation.gradient));
  }
}
