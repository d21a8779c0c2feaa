#include "autograd/kernels/gemm.hpp"

#include "autograd/error.hpp"
#include "autograd/kernels/blas.hpp"
#include "autograd/kernels/packed_product.hpp"
#include "autograd/kernels/small_product.hpp"
#include "autograd/operation_count.hpp"
#include "autograd/products.hpp"
#include "autograd/thread_pool.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace heed::HEED_REAL {

namespace {

// A matrix as BLAS describes it: one stride is 1, the other is the leading dimension. Row-major if column_stride == 1.
struct Operand {
  CBLAS_TRANSPOSE transpose;
  std::int64_t leading;
};

bool unit(std::int64_t stride, std::int64_t extent) { return stride == 1 || extent == 1; }

Operand operand(const Matrix& m, const char* which) {
  if (unit(m.column_stride, m.columns))
    return {CblasNoTrans, std::max(m.row_stride, std::max<std::int64_t>(m.columns, 1))};
  if (unit(m.row_stride, m.rows)) return {CblasTrans, std::max(m.column_stride, std::max<std::int64_t>(m.rows, 1))};
  throw Failed(fmt::format("[gemm] {} has no stride of 1: strides {} and {}", which, m.row_stride, m.column_stride));
}

// Checks the extents and counts the operations. Returns false if there is nothing to multiply, or if CountingOnly is
// active.
template <class B> bool begin_product(const Matrix& a, const B& b, const Matrix& c) {
  if (a.columns != b.rows || c.rows != a.rows || c.columns != b.columns)
    throw Failed(fmt::format("[gemm] the extents do not fit: [{}, {}] by [{}, {}] into [{}, {}]", a.rows, a.columns,
                             b.rows, b.columns, c.rows, c.columns));
  count_operations(2.0 * static_cast<double>(c.rows) * static_cast<double>(c.columns) * static_cast<double>(a.columns));
  return c.rows > 0 && c.columns > 0 && a.columns > 0 && !counting_only();
}

template <class F> void each_row(const Matrix& c, F f) {
  for (std::int64_t i = 0; i < c.rows; ++i) f(c.p + i * c.row_stride);
}

// The engine's own product on one thread. It takes the faster of two implementations, which give the same bits.
void own_on_one_thread(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha, Start start,
                       const Real* start_row = nullptr, const Finish* finish = nullptr) {
  if (alpha == 1 && of_few_rows(b, c)) few_rows_product(a, b, c, start, start_row, finish);
  else packed_product(a, b, c, alpha, start, start_row, finish);
}

// Cuts a result [m, n] into pieces for several threads, by rows and by columns. Each thread packs its own part of the
// operands, so pieces that are nearly square cost least.
struct Pieces {
  int by_rows = 1, by_columns = 1;

  // @param gathers_left  is the left operand copied, too?
  Pieces(const Matrix& c, bool gathers_left, int parts) {
    constexpr double per_copy = 6; // the time to copy an element, in fused multiply-adds
    double least = std::numeric_limits<double>::infinity();
    for (int rows = 1; rows <= parts; ++rows) {
      const int columns = parts / rows;
      const auto m = static_cast<double>(extent(c.rows, rows, block_rows)),
                 n = static_cast<double>(extent(c.columns, columns, column_step));
      const double cost = m * n + per_copy * (n + (gathers_left ? m : 0));
      if (cost >= least) continue;
      least = cost;
      by_rows = rows;
      by_columns = columns;
    }
  }

  static constexpr std::int64_t column_step = std::int64_t{block_vectors} * lanes;
  static std::int64_t begin(std::int64_t extent, int pieces, int piece, std::int64_t step) {
    const std::int64_t steps = (extent + step - 1) / step;
    return std::min(begin_of_part(steps, piece, pieces) * step, extent);
  }
  // The extent of the largest piece.
  static std::int64_t extent(std::int64_t extent, int pieces, std::int64_t step) {
    const std::int64_t steps = (extent + step - 1) / step;
    return (steps + pieces - 1) / pieces * step;
  }
};

// The estimated time of a product on one thread.
double nanoseconds(const Matrix& c, std::int64_t depth) {
  constexpr double operations_per_nanosecond = 100;
  return 2.0 * static_cast<double>(c.rows) * static_cast<double>(c.columns) * static_cast<double>(depth) /
         operations_per_nanosecond;
}

// The engine's own product. Pieces of the result are computed by several threads, if there are any without work. Each
// element is the same sum in the same order, so the bits do not depend on the pieces.
void own(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha, Start start, const Real* start_row = nullptr,
         const Finish* finish = nullptr) {
  const int parts = threads_for(nanoseconds(c, a.columns));
  if (parts == 1) return own_on_one_thread(a, b, c, alpha, start, start_row, finish);
  const Pieces pieces(c, gathers(a), parts);
  run_parts(pieces.by_rows * pieces.by_columns, [&](int part, int) {
    const int row = part / pieces.by_columns, column = part % pieces.by_columns;
    const std::int64_t i = Pieces::begin(c.rows, pieces.by_rows, row, block_rows),
                       rows = Pieces::begin(c.rows, pieces.by_rows, row + 1, block_rows) - i,
                       j = Pieces::begin(c.columns, pieces.by_columns, column, Pieces::column_step),
                       columns = Pieces::begin(c.columns, pieces.by_columns, column + 1, Pieces::column_step) - j;
    if (rows == 0 || columns == 0) return;
    own_on_one_thread(a.part(i, 0, rows, a.columns), b.part(0, j, b.rows, columns), c.part(i, j, rows, columns), alpha,
                      start, start_row ? start_row + j : nullptr, finish);
  });
}

void own(const Matrix& a, const PackedMatrix& b, const Matrix& c, Start start, const Real* start_row = nullptr,
         const Finish* finish = nullptr) {
  in_parallel(c.rows, nanoseconds(c, a.columns) / static_cast<double>(c.rows), block_rows,
              [&](std::int64_t begin, std::int64_t end) {
                packed_product(a.part(begin, 0, end - begin, a.columns), b, c.part(begin, 0, end - begin, c.columns),
                               start, start_row, finish);
              });
}

} // namespace

void gemm(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha, Real beta) {
  if (!unit(c.column_stride, c.columns)) {
    operand(c, "the product");
    return gemm(b.transposed(), a.transposed(), c.transposed(), alpha, beta);
  }
  if (!begin_product(a, b, c)) {
    if (beta == 0 && !counting_only()) each_row(c, [&](Real* row) { std::fill_n(row, c.columns, Real{0}); });
    return;
  }
  if constexpr (own_product) {
    if (beta != 0 && beta != 1)
      each_row(c, [&](Real* row) {
        for (std::int64_t j = 0; j < c.columns; ++j) row[j] *= beta;
      });
    own(a, b, c, alpha, beta == 0 ? Start::zero : Start::there);
  } else {
    blas_gemm(a, b, c, alpha, beta);
  }
}

void gemm_onto_row(const Matrix& a, const Matrix& b, const Real* row, const Matrix& c, const Finish* finish) {
  if (!unit(c.column_stride, c.columns)) throw Failed("[gemm] a product that starts from a row must be row-major");
  const bool empty = !begin_product(a, b, c);
  if (empty && counting_only()) return;
  if (own_product && !empty) return own(a, b, c, 1, row ? Start::row : Start::zero, row, finish);
  each_row(c, [&](Real* to) { row ? std::copy_n(row, c.columns, to) : std::fill_n(to, c.columns, Real{0}); });
  if (!empty) blas_gemm(a, b, c, 1, 1);
  if (finish) each_row(c, [&](Real* done) { finish->run(finish->context, done, c.columns); });
}

void gemm(const Matrix& a, const PackedMatrix& b, const Matrix& c, Real beta) {
  if (begin_product(a, b, c)) own(a, b, c, beta == 0 ? Start::zero : Start::there);
  else if (beta == 0 && !counting_only()) each_row(c, [&](Real* row) { std::fill_n(row, c.columns, Real{0}); });
}

void gemm_onto_row(const Matrix& a, const PackedMatrix& b, const Real* row, const Matrix& c, const Finish* finish) {
  if (begin_product(a, b, c)) return own(a, b, c, row ? Start::row : Start::zero, row, finish);
  if (counting_only()) return;
  each_row(c, [&](Real* to) { row ? std::copy_n(row, c.columns, to) : std::fill_n(to, c.columns, Real{0}); });
  if (finish) each_row(c, [&](Real* done) { finish->run(finish->context, done, c.columns); });
}

void blas_gemm(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha, Real beta) {
  if (!unit(c.column_stride, c.columns)) {
    operand(c, "the product");
    return blas_gemm(b.transposed(), a.transposed(), c.transposed(), alpha, beta);
  }
  const Operand x = operand(a, "the left matrix"), y = operand(b, "the right matrix");
  blas().gemm(Real{})(CblasRowMajor, x.transpose, y.transpose, static_cast<int>(c.rows), static_cast<int>(c.columns),
                      static_cast<int>(a.columns), alpha, a.p, static_cast<int>(x.leading), b.p,
                      static_cast<int>(y.leading), beta, c.p, static_cast<int>(std::max(c.row_stride, c.columns)));
}

bool multiplies_by_blas() { return !own_product; }

std::string product_description() {
  return own_product ? fmt::format("own products, {} numbers a vector", lanes) : blas_description();
}

} // namespace heed::HEED_REAL
