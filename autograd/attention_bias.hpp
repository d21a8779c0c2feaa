// AttentionBias: a bias that is added to attention scores. It is computed tile by tile, so it is never stored for all
// pairs of queries and keys.
#pragma once

#include "autograd/tape.hpp"

namespace heed::HEED_REAL {

/// The position of a tile of scores in [B, H, Tq, Tk]: `queries` x `keys` of batch entry b and head h, starting at
/// query i and key j. The score of query i + r and key j + c is at index [r row + c].
struct ScoreTile {
  std::int64_t b, h, i, queries, j, keys, row;
  bool operator==(const ScoreTile&) const = default;
};

/// A bias of the scores. Kernels do not depend on its kind. One object serves one attention in one pass. `keep_bias`
/// makes it, in the tape's memory.
class AttentionBias {
public:
  /// Does any tensor that the bias is made of require a gradient?
  virtual bool requires_grad() const { return false; }
  /// Adds the bias of a tile to its scores. The tile may include pairs that a mask hides; their values are ignored.
  virtual void add(const ScoreTile& tile, Real* scores) const = 0;
  /// May `add` be called for several heads at the same time? Not if it has memory of its own for a tile.
  virtual bool serves_several_threads() const { return true; }
  /// Called before the backward pass of the attention that uses the bias: finds the memory for the gradients.
  virtual void open(Tape&) {}
  /// Receives the gradient of a tile's scores, 0 for hidden pairs. Each visible pair is passed exactly once.
  virtual void add_gradients(const ScoreTile&, const Real* /*grad_scores*/) {}
  /// May `add_gradients` be called for several heads at the same time? Not if heads share a gradient.
  virtual bool gradients_serve_several_threads() const { return !requires_grad(); }
  /// Called after the backward pass of the attention.
  virtual void close(Tape&) {}

protected:
  ~AttentionBias() = default;
};

/// Copies a bias to the tape's memory. Its destructor is never called.
template <class Bias> Bias* keep_bias(Tape& tape, const Bias& bias) {
  static_assert(std::is_trivially_destructible_v<Bias>);
  return new (tape.keep<Bias>(1)) Bias(bias);
}

/// The sum of two biases. One of them may be null, and the result is then the other.
AttentionBias* sum_of(Tape& tape, AttentionBias* first, AttentionBias* second);

/// scores + bias, for attention that stores all scores: [B, H, Tq, Tk]. Without a bias, it returns the scores
/// themselves.
Tensor add_bias(const Tensor& scores, AttentionBias* bias);

} // namespace heed::HEED_REAL
