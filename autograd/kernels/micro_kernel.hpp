// The innermost loop of every matrix product: it computes a block of C that stays in registers.
#pragma once

#include "autograd/kernels/simd.hpp"

#include <cstdint>
#include <utility>

namespace heed::HEED_REAL {

/// The number of vectors and of rows of the block of C that fills the registers: 6 rows x 4 vectors of the 32 registers
/// of AVX-512, 6 x 2 of the 16 registers of AVX2.
inline constexpr int block_vectors = sizeof(Real) * lanes == 64 ? 4 : 2;
inline constexpr int block_rows = sizeof(Real) * lanes >= 32 ? 6 : 4;

/// The number of rows that fills the registers if the block has fewer vectors.
inline constexpr int rows_beside(int vectors) {
  const int sums = block_rows * block_vectors;
  return sums / vectors < 2 * block_rows ? sums / vectors : 2 * block_rows;
}

/// A strided operand: element (i, k) is p[i row + k column]. Elements are read one by one, so any strides work.
struct Scattered {
  const Real* p;
  std::int64_t row, column;

  Scattered from(std::int64_t i, std::int64_t k = 0) const { return {p + i * row + k * column, row, column}; }
};

/// The initial value of a product's sums.
enum class Start { zero, there, row }; ///< zero; the value in C; `start_row`, the same for every row of C

namespace detail {

// clang-format off
/// Calls f(0), ..., f(N - 1), with arguments that are compile-time constants.
template <int N, class F> [[gnu::always_inline]] inline void unrolled(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, I>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}
// clang-format on

} // namespace detail

/// c = start + a b with a [Rows, depth], b [depth, Vectors lanes], c [Rows, Vectors lanes].
template <int Rows, int Vectors>
inline void product_block(const Scattered& a, const Real* b, std::int64_t b_row, Real* c, std::int64_t c_row,
                          std::int64_t depth, Start start, const Real* start_row = nullptr) {
  // Unrolled by hand, because GCC compiles plain loops to code that loads and stores the sums through memory.
  Simd sum[Rows * Vectors];
  // clang-format off
  const auto each = [](const auto& f) __attribute__((always_inline)) { detail::unrolled<Rows * Vectors>(f); };
  const auto place = [=](int n) __attribute__((always_inline)) {
    return c + n / Vectors * c_row + n % Vectors * lanes;
  };
  if (start == Start::zero)
    each([&](auto n) __attribute__((always_inline)) { sum[n] = Simd(Real{0}); });
  else if (start == Start::there)
    each([&](auto n) __attribute__((always_inline)) { sum[n] = Simd::load_unaligned(place(n)); });
  else
    each([&](auto n) __attribute__((always_inline)) {
      sum[n] = Simd::load_unaligned(start_row + n % Vectors * lanes);
    });
  // clang-format on
  for (std::int64_t k = 0; k < depth; ++k) {
    Simd right[Vectors];
    detail::unrolled<Vectors>([&](auto j) __attribute__((always_inline)) {
      right[j] = Simd::load_unaligned(b + k * b_row + j * lanes);
    });
    detail::unrolled<Rows>([&](auto i) __attribute__((always_inline)) {
      const Simd left(a.p[i * a.row + k * a.column]);
      detail::unrolled<Vectors>([&](auto j) __attribute__((always_inline)) {
        sum[i * Vectors + j] = xsimd::fma(left, right[j], sum[i * Vectors + j]);
      });
    });
  }
  each([&](auto n) __attribute__((always_inline)) { sum[n].store_unaligned(place(n)); });
}

/// Like product_block, for `rows` <= Rows.
template <int Rows, int Vectors>
inline void product_block_of(std::int64_t rows, const Scattered& a, const Real* b, std::int64_t b_row, Real* c,
                             std::int64_t c_row, std::int64_t depth, Start start, const Real* start_row = nullptr) {
  if (rows == Rows) return product_block<Rows, Vectors>(a, b, b_row, c, c_row, depth, start, start_row);
  if constexpr (Rows > 1) product_block_of<Rows - 1, Vectors>(rows, a, b, b_row, c, c_row, depth, start, start_row);
}

} // namespace heed::HEED_REAL
