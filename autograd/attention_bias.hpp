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
/// made in the tape's memory, by `keep_bias`.
class AttentionBias {
public:
  /// Does anything want the gradient of what the bias is made of?
  virtual bool requires_grad() const { return false; }
  /// Adds that of a tile. Pairs that a mask hides may be among them; what is added there is not looked at.
  virtual void add(const ScoreTile& tile, Real* scores) const = 0;
  /// Before the backward pass of the attention that they are added in: where gradients go.
  virtual void open(Tape&) {}
  /// Takes the scores' gradient of a tile, 0 for hidden pairs. Each pair that is seen comes once.
  virtual void add_gradients(const ScoreTile&, const Real* /*grad_scores*/) {}

protected:
  ~AttentionBias() = default;
};

/// x's gradient, to be added to: zeros where nothing is there yet. Null where none is required.
Real* opened(Tape& tape, const Tensor& x);

/// A bias in the tape's memory, which destroys nothing.
template <class Bias> Bias* keep_bias(Tape& tape, const Bias& bias) {
  static_assert(std::is_trivially_destructible_v<Bias>);
  return new (tape.keep<Bias>(1)) Bias(bias);
}

/// scores + bias, for attention that has all scores: [B, H, Tq, Tk]. No bias: the scores themselves.
Tensor add_bias(const Tensor& scores, AttentionBias* bias);

} // namespace heed::HEED_REAL
