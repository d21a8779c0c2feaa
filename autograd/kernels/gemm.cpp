#include "autograd/kernels/gemm.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <complex>  // cxxblas.cxx, from xtensor-blas, needs it and does not say so
#include <xflens/cxxblas/cxxblas.cxx>

namespace heed::HEED_REAL {

namespace {

// BLAS knows a matrix by its leading dimension; the other stride must be 1. Row-major: column_stride == 1.
struct Operand {
  cxxblas::Transpose transpose;
  std::int64_t leading;
};

thread_local double operations = 0;

bool unit(std::int64_t stride, std::int64_t extent) { return stride == 1 || extent == 1; }

Operand operand(const Matrix& m, const char* which) {
  if (unit(m.column_stride, m.columns))
    return {cxxblas::NoTrans, std::max(m.row_stride, std::max<std::int64_t>(m.columns, 1))};
  if (unit(m.row_stride, m.rows))
    return {cxxblas::Trans, std::max(m.column_stride, std::max<std::int64_t>(m.rows, 1))};
  throw Failed(fmt::format("[gemm] {} has no stride of 1: strides {} and {}", which, m.row_stride, m.column_stride));
}

} // namespace

void gemm(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha, Real beta) {
  if (a.columns != b.rows || c.rows != a.rows || c.columns != b.columns)
    throw Failed(fmt::format("[gemm] the extents do not fit: [{}, {}] by [{}, {}] into [{}, {}]", a.rows, a.columns,
                             b.rows, b.columns, c.rows, c.columns));
  if (c.rows == 0 || c.columns == 0) return;
  if (!unit(c.column_stride, c.columns)) return gemm(b.transposed(), a.transposed(), c.transposed(), alpha, beta);
  if (a.columns == 0) {
    if (beta == 0)
      for (std::int64_t i = 0; i < c.rows; ++i) std::fill_n(c.p + i * c.row_stride, c.columns, Real{0});
    return;
  }
  prepare_blas();
  count_operations(2.0 * static_cast<double>(c.rows) * static_cast<double>(c.columns) * static_cast<double>(a.columns));
  const Operand x = operand(a, "the left matrix"), y = operand(b, "the right matrix");
  cxxblas::gemm(cxxblas::RowMajor, x.transpose, y.transpose, static_cast<int>(c.rows), static_cast<int>(c.columns),
                static_cast<int>(a.columns), alpha, a.p, static_cast<int>(x.leading), b.p, static_cast<int>(y.leading),
                beta, c.p, static_cast<int>(std::max(c.row_stride, c.columns)));
}

double counted_operations() { return operations; }
void count_operations(double more) { operations += more; }

} // namespace heed::HEED_REAL
