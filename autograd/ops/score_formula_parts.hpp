// ScoreFormula::Operand: how the passes of a score formula over tiles read an operand.
#pragma once

#include "autograd/kernels/formula_operations.hpp"
#include "autograd/score_formula.hpp"

namespace heed::HEED_REAL {

// An operand at any row and column of a tile. If `each` is true, each column has its own value; otherwise a row has one
// value.
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

} // namespace heed::HEED_REAL
