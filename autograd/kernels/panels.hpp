// Products with one matrix, many times over: it is packed once, in panels of two vectors of columns, and then met by
// few rows at a time, for which BLAS would pack it anew on every call.
#pragma once

#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/packing.hpp"
#include "autograd/kernels/small_product.hpp"
#include "autograd/operation_count.hpp"

namespace heed::HEED_REAL {

inline constexpr std::int64_t panel_width = 2 * lanes;

/// n rounded up to whole panels.
inline constexpr std::int64_t whole_panels(std::int64_t n) { return (n + panel_width - 1) / panel_width * panel_width; }

/// A matrix [depth, columns] as panels [whole_panels(columns) / panel_width, depth, panel_width], with zeros behind the
/// last column.
struct Panels {
  const Real* p;
  std::int64_t depth, columns;
};

/// `to` has room for depth * whole_panels(columns) numbers.
inline Panels pack_panels(const Matrix& m, Real* to) {
  Real* panel = to;
  for (std::int64_t j = 0; j < m.columns; j += panel_width, panel += m.rows * panel_width) {
    const Real* from = m.p + j * m.column_stride;
    const std::int64_t n = std::min(panel_width, m.columns - j);
    if (m.column_stride != 1) {
      pack_columns({from, m.column_stride, m.row_stride}, n, m.rows, 1, panel, panel_width);
      continue;
    }
    for (std::int64_t k = 0; k < m.rows; ++k) {
      std::copy_n(from + k * m.row_stride, n, panel + k * panel_width);
      std::fill_n(panel + k * panel_width + n, panel_width - n, Real{0});
    }
  }
  return {to, m.rows, m.columns};
}

/// c (+)= a b with a [rows, b.depth]; rows of c are c_row >= whole_panels(b.columns) apart, and what stands behind
/// their last column is overwritten.
inline void panel_product(const Scattered& a, const Panels& b, Real* c, std::int64_t c_row, std::int64_t rows,
                          bool add) {
  constexpr std::int64_t depth_block = 256; // of a panel stays in the nearest cache while all rows meet it
  count_operations(2.0 * static_cast<double>(rows) * static_cast<double>(b.depth) * static_cast<double>(b.columns));
  if (counting_only()) {
    for (std::int64_t i = 0; i < rows && !add; ++i) std::fill_n(c + i * c_row, b.columns, Real{0});
    return;
  }
  const Real* panel = b.p;
  for (std::int64_t j = 0; j < b.columns; j += panel_width, panel += b.depth * panel_width)
    for (std::int64_t k = 0; k < b.depth; k += depth_block)
      small_product({a.p + k * a.column, a.row, a.column}, panel + k * panel_width, panel_width, c + j, c_row, rows,
                    panel_width, std::min(depth_block, b.depth - k), add || k > 0);
}

} // namespace heed::HEED_REAL
