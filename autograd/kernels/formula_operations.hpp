// The operations of score formulas: one struct for each, with its value and its gradients as SIMD code. Tests compare
// them with `evaluate` (layers/attention/formula/), which computes a formula pair by pair in plain loops.
#pragma once

#include "autograd/formula_program.hpp"
#include "autograd/kernels/activations.hpp"

namespace heed::HEED_REAL::formula_operations {

using S = const Simd&;

inline Simd zero() { return Simd(Real{0}); }
inline Simd one() { return Simd(Real{1}); }
inline Simd truth(const xsimd::batch_bool<Real>& t) { return xsimd::select(t, one(), zero()); }

// Operations of one operand. value(a) is the result. by_a(d, a, y) is the gradient with respect to a, where d is the
// gradient with respect to the result. a() and y() return the operand and the result and compute them only when called.
// An operation without by_a passes no gradient on.

struct Negative {
  static Simd value(S a) { return -a; }
  static Simd by_a(S d, auto&&, auto&&) { return -d; }
};
struct Reciprocal {
  static Simd value(S a) { return one() / a; }
  static Simd by_a(S d, auto&&, auto&& y) { return -d * y() * y(); }
};
struct Abs {
  static Simd value(S a) { return xsimd::abs(a); }
  static Simd by_a(S d, auto&& a, auto&&) {
    const Simd v = a();
    return xsimd::select(v > zero(), d, xsimd::select(v < zero(), -d, zero()));
  }
};
struct Exp {
  static Simd value(S a) { return exponential(a); }
  static Simd by_a(S d, auto&&, auto&& y) { return d * y(); }
};
struct Log {
  static Simd value(S a) { return xsimd::log(a); }
  static Simd by_a(S d, auto&& a, auto&&) { return d / a(); }
};
struct Sqrt {
  static Simd value(S a) { return xsimd::sqrt(a); }
  static Simd by_a(S d, auto&&, auto&& y) { return Real(0.5) * d / y(); }
};
struct Tanh {
  static Simd value(S a) { return tanh_of(a); }
  static Simd by_a(S d, auto&&, auto&& y) {
    const Simd v = y();
    return d * (one() - v * v);
  }
};
struct Sigmoid {
  static Simd value(S a) { return logistic(a); }
  static Simd by_a(S d, auto&&, auto&& y) {
    const Simd v = y();
    return d * v * (one() - v);
  }
};
struct Relu {
  static Simd value(S a) { return relu_at(a).value; }
  static Simd by_a(S d, auto&& a, auto&&) { return d * relu_at(a()).derivative; }
};
struct Floor {
  static Simd value(S a) { return xsimd::floor(a); }
};
struct Sin {
  static Simd value(S a) { return xsimd::sin(a); }
  static Simd by_a(S d, auto&& a, auto&&) { return d * xsimd::cos(a()); }
};
struct Cos {
  static Simd value(S a) { return xsimd::cos(a); }
  static Simd by_a(S d, auto&& a, auto&&) { return -d * xsimd::sin(a()); }
};
struct Negation {
  static Simd value(S a) { return one() - a; }
};

// Operations of two operands: value(a, b), and the gradients by_a(d, a, b, y) and by_b(d, a, b, y).

struct Add {
  static Simd value(S a, S b) { return a + b; }
  static Simd by_a(S d, auto&&, auto&&, auto&&) { return d; }
  static Simd by_b(S d, auto&&, auto&&, auto&&) { return d; }
};
struct Subtract {
  static Simd value(S a, S b) { return a - b; }
  static Simd by_a(S d, auto&&, auto&&, auto&&) { return d; }
  static Simd by_b(S d, auto&&, auto&&, auto&&) { return -d; }
};
struct Multiply {
  static Simd value(S a, S b) { return a * b; }
  static Simd by_a(S d, auto&&, auto&& b, auto&&) { return d * b(); }
  static Simd by_b(S d, auto&& a, auto&&, auto&&) { return d * a(); }
};
struct Divide {
  static Simd value(S a, S b) { return a / b; }
  static Simd by_a(S d, auto&&, auto&& b, auto&&) { return d / b(); }
  static Simd by_b(S d, auto&&, auto&& b, auto&& y) { return -d * y() / b(); }
};
struct Power {
  static Simd value(S a, S b) { return xsimd::pow(a, b); }
  static Simd by_a(S d, auto&& a, auto&& b, auto&&) {
    const Simd v = a(), w = b();
    return d * w * xsimd::pow(v, w - one());
  }
  static Simd by_b(S d, auto&& a, auto&&, auto&& y) { return d * y() * xsimd::log(a()); }
};
struct Remainder {
  static Simd value(S a, S b) { return a - b * xsimd::floor(a / b); }
  static Simd by_a(S d, auto&&, auto&&, auto&&) { return d; }
  static Simd by_b(S d, auto&& a, auto&& b, auto&&) { return -d * xsimd::floor(a() / b()); }
};
struct Min {
  static Simd value(S a, S b) { return xsimd::select(b < a, b, a); }
  static Simd by_a(S d, auto&& a, auto&& b, auto&&) { return xsimd::select(b() < a(), zero(), d); }
  static Simd by_b(S d, auto&& a, auto&& b, auto&&) { return xsimd::select(b() < a(), d, zero()); }
};
struct Max {
  static Simd value(S a, S b) { return xsimd::select(a < b, b, a); }
  static Simd by_a(S d, auto&& a, auto&& b, auto&&) { return xsimd::select(a() < b(), zero(), d); }
  static Simd by_b(S d, auto&& a, auto&& b, auto&&) { return xsimd::select(a() < b(), d, zero()); }
};
struct Less {
  static Simd value(S a, S b) { return truth(a < b); }
};
struct LessEqual {
  static Simd value(S a, S b) { return truth(a <= b); }
};
struct Equal {
  static Simd value(S a, S b) { return truth(a == b); }
};
struct Unequal {
  static Simd value(S a, S b) { return truth(a != b); }
};
struct Conjunction {
  static Simd value(S a, S b) { return a * b; }
};
struct Disjunction {
  static Simd value(S a, S b) { return xsimd::max(a, b); }
};

/// Calls `use` with the operation's struct. Does nothing for operations without one (sources, selections and list
/// positions).
template <class Use> void with_row(FormulaOp op, Use&& use) {
  switch (op) {
    case FormulaOp::negative: return use(Negative{});
    case FormulaOp::reciprocal: return use(Reciprocal{});
    case FormulaOp::abs: return use(Abs{});
    case FormulaOp::exp: return use(Exp{});
    case FormulaOp::log: return use(Log{});
    case FormulaOp::sqrt: return use(Sqrt{});
    case FormulaOp::tanh: return use(Tanh{});
    case FormulaOp::sigmoid: return use(Sigmoid{});
    case FormulaOp::relu: return use(Relu{});
    case FormulaOp::floor: return use(Floor{});
    case FormulaOp::sin: return use(Sin{});
    case FormulaOp::cos: return use(Cos{});
    case FormulaOp::negation: return use(Negation{});
    case FormulaOp::add: return use(Add{});
    case FormulaOp::subtract: return use(Subtract{});
    case FormulaOp::multiply: return use(Multiply{});
    case FormulaOp::divide: return use(Divide{});
    case FormulaOp::power: return use(Power{});
    case FormulaOp::remainder: return use(Remainder{});
    case FormulaOp::min: return use(Min{});
    case FormulaOp::max: return use(Max{});
    case FormulaOp::less: return use(Less{});
    case FormulaOp::less_equal: return use(LessEqual{});
    case FormulaOp::equal: return use(Equal{});
    case FormulaOp::unequal: return use(Unequal{});
    case FormulaOp::conjunction: return use(Conjunction{});
    case FormulaOp::disjunction: return use(Disjunction{});
    default: return;
  }
}

/// Does the operation take one operand?
template <class Row> constexpr bool is_unary = requires(S a) { Row::value(a); };
/// Models an operand or result that is computed only when called.
struct Lazy {
  Simd operator()() const;
};
/// Does the operation have gradients?
template <class Row> constexpr bool has_gradients = requires(S d, Lazy x) { Row::by_a(d, x, x); }
|| requires(S d, Lazy x) { Row::by_a(d, x, x, x); };

} // namespace heed::HEED_REAL::formula_operations
