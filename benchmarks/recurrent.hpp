// Recurrent layers for bench_engine and bench_kernels, forward and backward. benchmarks/peers/recurrent.py is the
// PyTorch counterpart.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/recurrent.hpp"
#include "benchmarks/upstream.hpp"

#include <optional>
#include <vector>

namespace heed::HEED_REAL::bench {

/// A tensor of normally distributed values, with a buffer for its gradient.
class Input {
public:
  explicit Input(const Shape& shape, std::uint64_t seed = 1)
      : shape_(shape), values_(static_cast<std::size_t>(shape.size())), gradient_(values_.size()) {
    const RandomKey key{.seed = seed, .stream = Stream::test, .step = 0};
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<Real>(normal(key, i));
  }

  Tensor on(Tape& tape) { return tape.leaf(values_.data(), gradient_.data(), shape_); }
  const Real* values() const { return values_.data(); }

private:
  Shape shape_;
  std::vector<Real> values_, gradient_;
};

/// The whole buffer of a view as one vector.
inline Tensor whole_slot(const Tensor& x) { return Op::view(x, x.slot->value, Shape{x.slot->size}, Shape{1}); }

/// How a layer processes a sequence. once: in one operation. steps: step by step, as decoders do. together: step by
/// step, with the weights that all steps share packed once (Tape::PackedWeightCache).
enum class Stepping { once, steps, together };

/// A recurrent layer with its input projection (computed for all steps at once), with gradients for all parameters and
/// inputs. With Stepping::once the output is all states; otherwise it is the last state. `gates`: 3 for a GRU, 4 for an
/// LSTM.
template <int gates> class RecurrentLayer {
public:
  RecurrentLayer(std::int64_t rows, std::int64_t steps, std::int64_t width, Stepping stepping)
      : rows_(rows), steps_(steps), width_(width), stepping_(stepping), x_(Shape{steps, rows, width}),
        in_(Shape{gates * width, width}, 2), bias_(Shape{gates * width}, 3), w_(Shape{gates * width, width}, 4),
        candidate_(Shape{width}, 5) {}

  /// The number of values that forward() returns.
  std::int64_t size() const {
    if (stepping_ != Stepping::once) return rows_ * width_;
    return (steps_ + (gates == 4 ? 1 : 0)) * rows_ * width_;
  }

  Tensor forward(Tape& tape) {
    const Tensor projected = linear(x_.on(tape), in_.on(tape), bias_.on(tape)), zeros = tape.zeros({rows_, width_});
    const Tensor weight = w_.on(tape), b = candidate_.on(tape);
    if (stepping_ == Stepping::once) {
      if constexpr (gates == 4) return whole_slot(lstm(projected, zeros, zeros, weight).states);
      else return gru(projected, zeros, weight, b).states;
    }
    std::optional<Tape::PackedWeightCache> together;
    if (stepping_ == Stepping::together) together.emplace(tape);
    Recurrence s{.states = {}, .last = zeros, .cell = zeros};
    for (std::int64_t t = 0; t < steps_; ++t) {
      const Tensor now = slice(projected, 0, t, 1);
      if constexpr (gates == 4) s = lstm(now, s.last, s.cell, weight);
      else s = gru(now, s.last, weight, b);
    }
    return contiguous(transpose(s.last));
  }

private:
  std::int64_t rows_, steps_, width_;
  Stepping stepping_;
  Input x_, in_, bias_, w_, candidate_;
};

} // namespace heed::HEED_REAL::bench
