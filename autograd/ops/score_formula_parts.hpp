// What formulas' passes over tiles are made of.
#pragma once

#include "autograd/kernels/formula_operations.hpp"
#include "autograd/score_formula.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

// A value for each row and column of a tile: `each` column has its own, or a row has one.
struct ScoreFormula::Operand {
  const Real* p = nullptr;
  std::int64_t row = 0;
  bool each = false;

  Simd operator()(std::int64_t r, std::int64_t c, int n) const {
    const Real* x = p + r * row;
    return each ? load(x + c, n) : Simd(*x);
  }
  Real number(std::int64_t r, std::int64_t c) const { return p[r * row + (each ? c : 0)]; }
};

struct ScoreFormula::Sink {
  Real* p;
  std::int64_t row;
  bool each, first;
};

template <class A, class F> void fill(const ScoreTile& t, Real* y, std::int64_t row, const A& a, F&& f) {
  for (std::int64_t r = 0; r < t.queries; ++r)
    if (a.each) map(t.keys, [&](std::int64_t c, int n) { store(y + r * row + c, f(load(a.p + r * a.row + c, n)), n); });
    else {
      const Simd v = f(Simd(a.p[r * a.row]));
      map(t.keys, [&](std::int64_t c, int n) { store(y + r * row + c, v, n); });
    }
}
template <class A, class F> void fill(const ScoreTile& t, Real* y, std::int64_t row, const A& a, const A& b, F&& f) {
  for (std::int64_t r = 0; r < t.queries; ++r) {
    Real* to = y + r * row;
    const Real *pa = a.p + r * a.row, *pb = b.p + r * b.row;
    if (a.each && b.each)
      map(t.keys, [&](std::int64_t c, int n) { store(to + c, f(load(pa + c, n), load(pb + c, n)), n); });
    else if (a.each)
      map(t.keys, [&, v = Simd(*pb)](std::int64_t c, int n) { store(to + c, f(load(pa + c, n), v), n); });
    else if (b.each)
      map(t.keys, [&, v = Simd(*pa)](std::int64_t c, int n) { store(to + c, f(v, load(pb + c, n)), n); });
    else map(t.keys, [&, v = f(Simd(*pa), Simd(*pb))](std::int64_t c, int n) { store(to + c, v, n); });
  }
}

inline std::int64_t place(Real number, std::int64_t size) {
  // A number that is none is the first.
  return number >= 0 ? static_cast<std::int64_t>(std::min(std::floor(number), static_cast<Real>(size - 1))) : 0;
}

} // namespace heed::HEED_REAL
