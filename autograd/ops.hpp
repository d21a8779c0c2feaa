// The operations of the engine: arithmetic, elementwise functions, matrix products, reductions, shapes, softmax and
// normalisation, embedding, loss and dropout. Each is a free function on tensors of one tape. It checks the shapes,
// computes the value, and records a closure that adds to its operands' gradients. All throw heed::Failed with `[op]
// ...` if shapes do not fit.
//
// Views (reshape of a contiguous tensor, transpose, slice, ...) share memory and copy nothing. Every operation accepts
// any view. In comments, `dx` is the derivative of the loss with respect to x.
#pragma once

#include "autograd/mask.hpp"
#include "autograd/rng.hpp"
#include "autograd/tape.hpp"

#include <cstdint>
#include <span>

namespace heed::HEED_REAL {

// ---- arithmetic (ops/arithmetic.cpp) ----

/// x + y, elementwise with broadcasting: shapes are aligned at the last axis, and an extent of 1 stretches.
Tensor add(const Tensor& x, const Tensor& y);
/// x - y with broadcasting.
Tensor sub(const Tensor& x, const Tensor& y);
/// x y with broadcasting.
Tensor mul(const Tensor& x, const Tensor& y);
/// x / y with broadcasting. Division by zero gives what IEEE 754 gives.
Tensor div(const Tensor& x, const Tensor& y);
/// factor x + shift.
Tensor scale(const Tensor& x, Real factor, Real shift = 0);

// ---- elementwise functions (ops/activation.cpp) ----

Tensor exp(const Tensor& x);
/// Natural logarithm.
Tensor log(const Tensor& x);
Tensor tanh(const Tensor& x);
/// 1 / (1 + exp(-x)).
Tensor sigmoid(const Tensor& x);
/// -log(1 + exp(-x)), the logarithm of sigmoid(x), without overflow.
Tensor log_sigmoid(const Tensor& x);
/// |x|; the derivative at 0 is 0.
Tensor abs(const Tensor& x);
/// x, with 0 in place of NaN and infinities; the derivative there is 0.
Tensor finite_or_zero(const Tensor& x);
/// max(x, 0); the derivative at 0 is 0.
Tensor relu(const Tensor& x);
/// max(x, 0)^2 (So et al. 2021, arXiv 2109.08668).
Tensor relu_squared(const Tensor& x);
/// x Phi(x) = x (1 + erf(x / sqrt 2)) / 2, exact (Hendrycks and Gimpel 2016, arXiv 1606.08415).
Tensor gelu(const Tensor& x);
/// The tanh approximation from the same paper: x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
Tensor gelu_tanh(const Tensor& x);
/// elu(x) + 1: x + 1 where x > 0, exp(x) elsewhere. It is never negative (Katharopoulos et al. 2020, arXiv 2006.16236).
Tensor elu_plus_one(const Tensor& x);
/// x sigmoid(x) (from the GELU paper; Ramachandran et al. 2017, arXiv 1710.05941, call it "swish").
Tensor silu(const Tensor& x);

// ---- products (ops/matmul.cpp) ----

/// Matrix products over the last two axes: [..., m, k] times [..., k, n] gives [..., m, n]. The leading axes broadcast.
/// Transposed views need no copy.
Tensor matmul(const Tensor& a, const Tensor& b);
/// y = x w^T (+ bias): x [..., in], w [out, in], bias [out] (or none), y [..., out].
Tensor linear(const Tensor& x, const Tensor& w);
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias);
/// f(x w^T + bias); bias may be null. f is applied while parts of the product are in the cache. The result equals the
/// activation of `linear`.
enum class Activation { relu, gelu, gelu_tanh, silu, relu_squared };
/// f(x), elementwise.
Tensor activate(const Tensor& x, Activation f);
Tensor linear_activation(const Tensor& x, const Tensor& w, const Tensor* bias, Activation f);

// ---- reductions (ops/reduction.cpp) ----

/// Sum over all elements: a scalar.
Tensor sum(const Tensor& x);
/// Sum over one axis. The axis is removed, or has extent 1 if `keep`.
Tensor sum(const Tensor& x, int axis, bool keep = false);
Tensor mean(const Tensor& x);
Tensor mean(const Tensor& x, int axis, bool keep = false);
/// Exclusive prefix sum along an axis: y_i = x_0 + ... + x_(i-1), with y_0 = 0.
Tensor sum_before(const Tensor& x, int axis);
/// Maximum over one axis; the gradient goes to the first element that has the maximum.
Tensor max(const Tensor& x, int axis, bool keep = false);

// ---- shapes (ops/shape.cpp) ----

/// The same elements in row-major order with another shape. One extent may be -1; it is computed from the others. The
/// result is a view if x is contiguous, and a copy otherwise.
Tensor reshape(const Tensor& x, Shape shape);
Tensor reshape(const Tensor& x, std::initializer_list<std::int64_t> extents);
/// Swaps two axes; a view.
Tensor transpose(const Tensor& x, int axis = -2, int other = -1);
/// `length` entries of an axis, starting at `begin`; a view.
Tensor slice(const Tensor& x, int axis, std::int64_t begin, std::int64_t length);
/// Concatenates tensors along an axis; their other extents must be equal.
Tensor concat(std::span<const Tensor> parts, int axis);
Tensor concat(std::initializer_list<Tensor> parts, int axis);
/// x without gaps in memory: x itself if it is contiguous, otherwise a copy.
Tensor contiguous(const Tensor& x);
/// Inserts an axis of extent 1 before `axis`; a view.
Tensor unsqueeze(const Tensor& x, int axis);

// ---- rows (ops/softmax.cpp, ops/norm.cpp) ----

/// exp(x_i) / sum_j exp(x_j) over the last axis, computed without overflow.
Tensor softmax(const Tensor& x);
/// x_i - log sum_j exp(x_j) over the last axis.
Tensor log_softmax(const Tensor& x);
/// Softmax over the keys that each query may attend to, 0 elsewhere: x [B, H, Tq, Tk]. A row that may attend to no key,
/// or only to keys whose scores are minus infinity, gives zeros and a zero gradient.
Tensor masked_softmax(const Tensor& x, const Mask& mask);
/// `value` where `where` is nonzero, x elsewhere. `where` has x's shape, row-major, and is copied. No gradient flows
/// through filled elements.
Tensor masked_fill(const Tensor& x, const std::uint8_t* where, Real value);

/// (x - mean) / sqrt(variance + epsilon) gain + bias over the last axis, with the biased variance (Ba et al. 2016,
/// arXiv 1607.06450). gain, bias: [width]; bias may be null.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor* bias, Real epsilon = Real(1e-5));
/// x / sqrt(mean(x^2) + epsilon) gain over the last axis (Zhang and Sennrich 2019, arXiv 1910.07467). gain: [width].
Tensor rms_norm(const Tensor& x, const Tensor& gain, Real epsilon = Real(1e-5));
/// x / max(|x|, epsilon) over the last axis, where |x| is the Euclidean norm.
Tensor l2_normalize(const Tensor& x, Real epsilon = Real(1e-12));

// ---- tokens (ops/embedding.cpp, ops/loss.cpp) ----

/// Looks up rows of a table: table [vocabulary, width], tokens of any shape, result [shape..., width]. Tokens are
/// copied. Throws heed::Failed, which names the token, if one is out of range.
Tensor embedding(const Tensor& table, const std::int32_t* tokens, const Shape& shape);

struct CrossEntropyOptions {
  /// The target distribution is (1 - s) one-hot + s uniform (Szegedy et al. 2015, arXiv 1512.00567).
  Real label_smoothing = 0;
  /// Rows with this target do not count.
  std::int32_t ignore = -1;
  /// The divisor of the sum over rows; 0: the number of rows that count (this gives the mean, or 0 if no row counts). A
  /// shard of a batch divides by the count of the whole batch.
  Real divisor = 0;
};
/// The sum over rows of -sum_c target_c log softmax(logits)_c, divided by `divisor`: logits [..., classes], one target
/// for each row (copied). The result is a scalar. Softmax and cross-entropy are one pass forward and one pass backward.
Tensor cross_entropy(const Tensor& logits, const std::int32_t* targets, const CrossEntropyOptions& options = {});

// ---- randomness (ops/dropout.cpp) ----

/// 0 with the given probability, x / (1 - probability) otherwise (Srivastava et al. 2014). An element depends only on
/// the key and on its index in `numbers`. probability is in [0, 1).
Tensor dropout(const Tensor& x, double probability, const RandomKey& key, const Numbering& numbers);

} // namespace heed::HEED_REAL
