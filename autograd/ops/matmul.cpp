#include "autograd/kernels/activations.hpp"
#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/packed_product.hpp"
#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/ops.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

// The matrix in the last two axes of x, with its first element at p.
Matrix matrix(const Tensor& x, Real* p) { return {p, x.shape[-2], x.shape[-1], x.stride[-2], x.stride[-1]}; }

bool usable(const Tensor& x) { return x.stride[-1] == 1 || x.stride[-2] == 1 || x.shape[-1] == 1 || x.shape[-2] == 1; }

// Calls f(a, b, y) with the offset of each pair of matrices and of their product.
template <class F> void each_product(const Tensor& a, const Tensor& b, const Tensor& y, F f) {
  Shape leading = y.shape;
  leading.rank -= 2;
  auto strides = [&](const Tensor& t) {
    Shape shape = t.shape, stride = t.stride;
    shape.rank = stride.rank = t.rank() - 2;
    return stretched(shape, stride, leading);
  };
  walk<3>(leading, {strides(a), strides(b), strides(y)}, [&](auto at, std::int64_t n, auto step) {
    for (std::int64_t i = 0; i < n; ++i) f(at[0] + i * step[0], at[1] + i * step[1], at[2] + i * step[2]);
  });
}

// The gradient target of an operand. If the operand is broadcast over several products, its gradient is set to zero
// here and every product adds to it.
GradTarget product_into(const Tensor& x, const Tensor& y) {
  GradTarget d = x.tape->grad_target(x);
  std::int64_t served = 1, products = 1;
  for (int i = 0; i < x.rank() - 2; ++i) served *= x.shape[i];
  for (int i = 0; i < y.rank() - 2; ++i) products *= y.shape[i];
  if (!d || !d.overwrite || served == products || counting_only()) return d;
  walk<1>(x.shape, {x.stride}, [&](auto at, std::int64_t n, auto step) {
    for (std::int64_t i = 0; i < n; ++i) d.p[at[0] + i * step[0]] = 0;
  });
  d.overwrite = false;
  return d;
}

// Views x as one matrix of rows. Returns false if the leading axes leave gaps between rows. Strides of axes of length 1
// are ignored.
bool rows_of(const Tensor& x, Matrix& m) {
  std::int64_t rows = 1, row_stride = x.stride[-2];
  for (int i = x.rank() - 2; i >= 0; --i) {
    if (x.shape[i] == 1) continue;
    if (rows == 1) row_stride = x.stride[i];
    else if (x.stride[i] != row_stride * rows) return false;
    rows *= x.shape[i];
  }
  m = {x.data, rows, x.shape[-1], row_stride, x.stride[-1]};
  return m.column_stride == 1 || m.columns == 1;
}

// The outputs of an activation that follows a product.
struct Activated {
  Real *y, *derivative; // derivative: null where no gradient is required
};

template <auto at> void activate(const void* context, Real* part, std::int64_t n) {
  const Activated to = *static_cast<const Activated*>(context);
  map(n, [&](std::int64_t i, int count) {
    const ValueAndSlope v = at(load(part + i, count));
    store(part + i, v.value, count);
    if (to.derivative) store(to.derivative + (part - to.y) + i, v.derivative, count);
  });
}

using Activate = void (*)(const void*, Real*, std::int64_t);
constexpr Activate activate_with[] = {activate<relu_at>, activate<gelu_at>, activate<gelu_tanh_at>, activate<silu_at>,
                                      activate<relu_squared_at>};

// Multiplies dy by the derivative in place, if there is one, and adds the sum of dy's rows to d.
void through_activation_and_bias(const Matrix& dy, const Real* derivative, const GradTarget& d) {
  if (counting_only() || (!derivative && !d)) return;
  if (d && d.overwrite) std::fill_n(d.p, dy.columns, Real{0});
  in_parallel(dy.columns, per_element * static_cast<double>(dy.rows), elements_together,
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = 0; i < dy.rows; ++i)
                  map(end - begin, [&](std::int64_t j, int n) {
                    Real* at = dy.p + i * dy.columns + begin + j;
                    Simd v = load(at, n);
                    if (derivative) {
                      v *= load(derivative + i * dy.columns + begin + j, n);
                      store(at, v, n);
                    }
                    if (d) store(d.p + begin + j, load(d.p + begin + j, n) + v, n);
                  });
              });
}

Tensor affine(const char* name, const Tensor& input, const Tensor& weight, const Tensor* bias, Activate f) {
  const Op op(name, {&input, &weight, bias ? bias : &weight}, Counts::yes);
  op.check(input.rank() >= 1 && weight.rank() == 2, "x needs an axis and w two, they have {} and {}", input.rank(),
           weight.rank());
  if (input.shape[-1] != weight.shape[1])
    op.fail(fmt::format("x and w must share the input width: x is {}, w is {}", input.shape.text(),
                        weight.shape.text()));
  if (bias && !(bias->shape == Shape{weight.shape[0]}))
    op.fail(fmt::format("the bias must be [{}], it is {}", weight.shape[0], bias->shape.text()));
  Tensor x = input.rank() == 1 ? unsqueeze(input, 0) : input;
  Matrix rows{};
  if (!rows_of(x, rows)) {
    x = contiguous(x);
    rows_of(x, rows);
  }
  const Tensor w = usable(weight) ? weight : contiguous(weight);
  const bool biased = bias != nullptr;
  const Tensor b = biased ? contiguous(*bias) : w;
  Shape shape = input.shape;
  const std::int64_t width = shape[-1] = w.shape[0];
  const Tensor y = op.output(shape);
  Real* derivative = f && op.requires_grad() ? op.tape().keep<Real>(y.size()) : nullptr;
  const Activated activated{y.data, derivative};
  const Finish finish{f, &activated};
  PackedWeight* ready = packed_weight(w, rows.rows);
  const PackedMatrix* packed = ready ? &ready->forwards : frozen_weight(w);
  const auto product = [&](const auto& right) {
    gemm_onto_row(rows, right, biased ? b.data : nullptr, row_major(y.data, rows.rows, width), f ? &finish : nullptr);
  };
  packed ? product(*packed) : product(matrix(w, w.data).transposed());

  op.record(y, [=] {
    Tape& tape = *y.tape;
    // y's gradient is dead after this closure, so it may be overwritten.
    const Matrix dy = row_major(tape.grad(y), rows.rows, width);
    through_activation_and_bias(dy, derivative, biased ? tape.grad_target(b) : GradTarget{});
    if (const GradTarget d = tape.grad_target(x)) {
      Matrix dx = rows;
      dx.p = d.p;
      if (ready) gemm(dy, ready->backwards, dx, d.overwrite ? 0 : 1);
      else gemm(dy, matrix(w, w.data), dx, 1, d.overwrite ? 0 : 1);
    }
    if (ready) {
      if (Real* to = ready->gather(rows)) std::copy_n(dy.p, dy.rows * width, to);
      return;
    }
    if (const GradTarget d = tape.grad_target(w)) gemm(dy.transposed(), rows, matrix(w, d.p), 1, d.overwrite ? 0 : 1);
  });
  return y;
}

} // namespace

Tensor matmul(const Tensor& left, const Tensor& right) {
  const Op op("matmul", {&left, &right}, Counts::yes);
  op.check(left.rank() >= 2 && right.rank() >= 2, "both operands need two axes or more, they have {} and {}",
           left.rank(), right.rank());
  const Tensor a = usable(left) ? left : contiguous(left), b = usable(right) ? right : contiguous(right);
  Shape shape, a_leading = a.shape, b_leading = b.shape;
  a_leading.rank -= 2;
  b_leading.rank -= 2;
  if (a.shape[-1] != b.shape[-2] || !broadcast(a_leading, b_leading, shape))
    op.fail(fmt::format("{} by {} does not fit", a.shape.text(), b.shape.text()));
  shape.push_back(a.shape[-2]);
  shape.push_back(b.shape[-1]);
  const Tensor y = op.output(shape);

  each_product(a, b, y, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    gemm(matrix(a, a.data + i), matrix(b, b.data + j), matrix(y, y.data + k));
  });
  op.record(y, [=] {
    Real* dy = const_cast<Real*>(y.tape->grad(y));
    // One gradient after the other, because the operands may share memory.
    if (const GradTarget d = product_into(a, y)) {
      each_product(a, b, y, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
        gemm(matrix(y, dy + k), matrix(b, b.data + j).transposed(), matrix(a, d.p + i), 1, d.overwrite ? 0 : 1);
      });
    }
    if (const GradTarget d = product_into(b, y)) {
      each_product(a, b, y, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
        gemm(matrix(a, a.data + i).transposed(), matrix(y, dy + k), matrix(b, d.p + j), 1, d.overwrite ? 0 : 1);
      });
    }
  });
  return y;
}

Tensor linear(const Tensor& x, const Tensor& w) { return affine("linear", x, w, nullptr, nullptr); }
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias) { return affine("linear", x, w, &bias, nullptr); }
Tensor linear_activation(const Tensor& x, const Tensor& w, const Tensor* bias, Activation f) {
  return affine("linear_activation", x, w, bias, activate_with[static_cast<int>(f)]);
}

} // namespace heed::HEED_REAL
