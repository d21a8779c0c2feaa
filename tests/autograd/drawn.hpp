// Test support: operands of given shapes with random values from a given range, and views of tensors.
#pragma once

#include "autograd/ops.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// The range of random test values: in [low, high], with absolute values of at least `away`.
struct Domain {
  double low = -2, high = 2, away = 0;
};

inline std::vector<Real> draw(std::int64_t n, std::uint64_t seed, const Domain& domain = {}) {
  RandomSource random({seed, Stream::test, 0});
  std::vector<Real> out;
  for (std::int64_t i = 0; i < n; ++i) {
    double x = domain.low + (domain.high - domain.low) * random.uniform();
    if (std::abs(x) < domain.away) x += x < 0 ? -domain.away : domain.away;
    out.push_back(static_cast<Real>(x));
  }
  return out;
}

/// The values of any view, in row-major order.
inline std::vector<Real> read(const Tensor& x) {
  std::vector<Real> out;
  out.reserve(static_cast<std::size_t>(x.size()));
  const auto axes_from = [&](const auto& self, int axis, const Real* from) -> void {
    if (axis == x.rank()) return out.push_back(*from);
    for (std::int64_t i = 0; i < x.shape[axis]; ++i) self(self, axis + 1, from + i * x.stride[axis]);
  };
  axes_from(axes_from, 0, x.data);
  return out;
}

/// Values with memory for their gradient, which can be put on a tape.
struct Operand {
  Shape shape;
  std::vector<Real> values, gradient;

  Operand(const Shape& s, std::vector<Real> v) : shape(s), values(std::move(v)), gradient(values.size()) {}
  Operand(const Shape& s, std::uint64_t seed, const Domain& domain = {}) : Operand(s, draw(s.size(), seed, domain)) {}
  Tensor on(Tape& tape) { return tape.leaf(values.data(), gradient.data(), shape); }
};

/// The result of an operation on the given values.
inline std::vector<Real> apply(std::vector<Real> values, const Shape& shape,
                               const std::function<Tensor(const Tensor&)>& function) {
  Tape tape;
  Operand x(shape, std::move(values));
  return read(function(x.on(tape)));
}

/// A way to get a tensor of a given shape as a view of a leaf with another shape.
struct View {
  std::string name;
  bool (*fits)(const Shape& shape);
  Shape (*of)(Shape shape); ///< the leaf's shape
  Tensor (*take)(const Tensor& leaf, const Shape& shape);
};

/// All kinds of views: gaps along each axis, transposed axes, another shape.
inline const std::vector<View>& views() {
  static const std::vector<View> all = {{"whole", [](const Shape&) { return true; }, [](Shape s) { return s; },
                                         [](const Tensor& x, const Shape&) { return x; }},
                                        {"transposed", [](const Shape& s) { return s.rank >= 2; },
                                         [](Shape s) {
                                           std::swap(s[-1], s[-2]);
                                           return s;
                                         },
                                         [](const Tensor& x, const Shape&) { return transpose(x); }},
                                        {"first axes exchanged", [](const Shape& s) { return s.rank >= 3; },
                                         [](Shape s) {
                                           std::swap(s[0], s[1]);
                                           return s;
                                         },
                                         [](const Tensor& x, const Shape&) { return transpose(x, 0, 1); }},
                                        {"part of the last axis", [](const Shape& s) { return s.rank >= 1; },
                                         [](Shape s) {
                                           s[-1] += 3;
                                           return s;
                                         },
                                         [](const Tensor& x, const Shape& s) { return slice(x, -1, 1, s[-1]); }},
                                        {"part of the first axis", [](const Shape& s) { return s.rank >= 1; },
                                         [](Shape s) {
                                           s[0] += 2;
                                           return s;
                                         },
                                         [](const Tensor& x, const Shape& s) { return slice(x, 0, 2, s[0]); }},
                                        {"reshaped", [](const Shape&) { return true; },
                                         [](Shape s) { return Shape{s.size()}; },
                                         [](const Tensor& x, const Shape& s) { return reshape(x, s); }}};
  return all;
}

} // namespace heed::HEED_REAL
