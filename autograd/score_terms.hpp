// Numbers that are added to attention's scores, made tile by tile, so that they never stand in memory for all pairs.
#pragma once

#include "autograd/tape.hpp"

namespace heed::HEED_REAL {

/// Where a tile of scores stands in [B, H, Tq, Tk]: `queries` x `keys` of batch entry b and head h, from query i and
/// key j on. The number of query i + r and key j + c stands at [r row + c].
struct ScoreTile {
  std::int64_t b, h, i, queries, j, keys, row;
  bool operator==(const ScoreTile&) const = default;
};

/// What is added to scores. Kernels neither know nor ask what it is. One object serves one attention of one pass: it is
/// made in the tape's memory, by `keep_terms`.
class ScoreTerms {
public:
  /// Does anything want the gradient of what the terms are made of?
  virtual bool requires_grad() const { return false; }
  /// Adds the terms of a tile. Pairs that a mask hides may be among them; what is added there is not looked at.
  virtual void add(const ScoreTile& tile, Real* scores) const = 0;
  /// Before the backward pass of the attention that they are added in: where gradients go.
  virtual void open(Tape&) {}
  /// Takes the scores' gradient of a tile, 0 for hidden pairs. Each pair that is seen comes once.
  virtual void add_slopes(const ScoreTile&, const Real* /*slopes*/) {}

protected:
  ~ScoreTerms() = default;
};

/// x's gradient, to be added to: zeros where nothing is there yet. Null where none is required.
Real* opened(Tape& tape, const Tensor& x);

/// Terms in the tape's memory, which destroys nothing.
template <class Terms> Terms* keep_terms(Tape& tape, const Terms& terms) {
  static_assert(std::is_trivially_destructible_v<Terms>);
  return new (tape.keep<Terms>(1)) Terms(terms);
}

/// scores + terms, for attention that has all scores: [B, H, Tq, Tk]. No terms: the scores themselves.
Tensor add_terms(const Tensor& scores, ScoreTerms* terms);

} // namespace heed::HEED_REAL
