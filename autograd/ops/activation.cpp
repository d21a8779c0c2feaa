#include "autograd/kernels/activations.hpp"
#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/ops.hpp"

namespace heed::HEED_REAL {

namespace {

// y = value(x), dx += derivative(x, y) dy, on whole vectors.
template <class Value, class Derivative>
Tensor elementwise(const char* name, const Tensor& input, Value value, Derivative derivative) {
  const Op op(name, {&input});
  const Tensor x = contiguous(input);
  const Tensor y = op.output(x.shape);
  if (op.computes())
    map_in_parallel(x.size(), per_exponential,
                    [&](std::int64_t i, int n) { store(y.data + i, value(load(x.data + i, n)), n); });
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    map_in_parallel(x.size(), per_element, [&](std::int64_t i, int n) {
      accumulate_product(d.p + i, derivative(load(x.data + i, n), load(y.data + i, n)), load(dy + i, n), d.overwrite,
                         n);
    });
  });
  return y;
}

// Like elementwise, for activations that compute value and derivative together. The derivative is stored for the
// backward pass.
template <class At> Tensor elementwise_with_derivative(const char* name, const Tensor& input, At at) {
  const Op op(name, {&input});
  const Tensor x = contiguous(input);
  const Tensor y = op.output(x.shape);
  Real* derivative = op.requires_grad() ? op.tape().keep<Real>(x.size()) : nullptr;
  if (op.computes())
    map_in_parallel(x.size(), per_exponential, [&](std::int64_t i, int n) {
      const ValueAndSlope v = at(load(x.data + i, n));
      store(y.data + i, v.value, n);
      if (derivative) store(derivative + i, v.derivative, n);
    });
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    map_in_parallel(x.size(), per_element, [&](std::int64_t i, int n) {
      accumulate_product(d.p + i, load(derivative + i, n), load(dy + i, n), d.overwrite, n);
    });
  });
  return y;
}

} // namespace

Tensor exp(const Tensor& x) {
  return elementwise(
      "exp", x, [](Simd v) { return exponential(v); }, [](Simd, Simd y) { return y; });
}

Tensor log(const Tensor& x) {
  return elementwise(
      "log", x, [](Simd v) { return xsimd::log(v); }, [](Simd v, Simd) { return Real{1} / v; });
}

Tensor tanh(const Tensor& x) {
  return elementwise(
      "tanh", x, [](Simd v) { return xsimd::tanh(v); }, [](Simd, Simd y) { return Real{1} - y * y; });
}

Tensor sigmoid(const Tensor& x) {
  return elementwise(
      "sigmoid", x, [](Simd v) { return logistic(v); }, [](Simd, Simd y) { return y * (Real{1} - y); });
}

Tensor log_sigmoid(const Tensor& x) {
  return elementwise(
      "log_sigmoid", x, [](Simd v) { return -softplus(-v); }, [](Simd v, Simd) { return logistic(-v); });
}

Tensor abs(const Tensor& x) {
  return elementwise(
      "abs", x, [](Simd v) { return xsimd::abs(v); },
      [](Simd v, Simd) {
        const Simd zero(Real{0}), one(Real{1});
        return xsimd::select(v > zero, one, xsimd::select(v < zero, -one, zero));
      });
}

Tensor finite_or_zero(const Tensor& x) {
  const Simd zero(Real{0}), one(Real{1});
  return elementwise(
      "finite_or_zero", x, [=](Simd v) { return xsimd::select(xsimd::isfinite(v), v, zero); },
      [=](Simd v, Simd) { return xsimd::select(xsimd::isfinite(v), one, zero); });
}

Tensor relu(const Tensor& x) {
  return elementwise(
      "relu", x, [](Simd v) { return relu_at(v).value; }, [](Simd v, Simd) { return relu_at(v).derivative; });
}

Tensor relu_squared(const Tensor& x) { return elementwise_with_derivative("relu_squared", x, relu_squared_at); }

Tensor elu_plus_one(const Tensor& x) {
  const Simd zero(Real{0}), one(Real{1});
  return elementwise(
      "elu_plus_one", x, [=](Simd v) { return xsimd::select(v > zero, v + one, exponential(v)); },
      [=](Simd v, Simd y) { return xsimd::select(v > zero, one, y); });
}

Tensor gelu(const Tensor& x) { return elementwise_with_derivative("gelu", x, gelu_at); }
Tensor gelu_tanh(const Tensor& x) { return elementwise_with_derivative("gelu_tanh", x, gelu_tanh_at); }
Tensor silu(const Tensor& x) { return elementwise_with_derivative("silu", x, silu_at); }

Tensor activate(const Tensor& x, Activation f) {
  constexpr Tensor (*all[])(const Tensor&) = {relu, gelu, gelu_tanh, silu, relu_squared};
  return all[static_cast<int>(f)](x);
}

} // namespace heed::HEED_REAL
