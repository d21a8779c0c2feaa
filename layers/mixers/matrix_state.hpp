// What recurrences over a matrix of state share: their interface, the state between decoding steps, and tokens that act
// on it in several steps.
#pragma once

#include "autograd/linear_recurrence.hpp"
#include "layers/mixer.hpp"
#include "layers/saved_tensor.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// A mixer whose results are weighted sums of the values of the tokens up to the one that reads.
class MatrixStateMixer : public Mixer {
public:
  /// The weights of all pairs of tokens, without a gradient: o_i is the sum over j of weights_ij v_j. [B, heads, T, T],
  /// 0 for later tokens; they may be negative.
  virtual Tensor weights(Pass& pass, const Tensor& x, const Mask& mask) const = 0;
};

/// S [B, heads, K, V], and the last inputs of a convolution, [B, taps - 1, channels].
class MatrixState final : public MixerState {
public:
  std::int64_t length() const override { return length_; }
  void select(std::span<const std::int64_t> parents) override {
    for (SavedTensor* stored : {&sums_, &inputs_}) stored->select(parents);
  }
  std::int64_t numbers(std::int64_t) const override { return sums_.numbers_each() + inputs_.numbers_each(); }

  Tensor sums(Tape& tape) const { return sums_.on(tape); }
  Tensor inputs(Tape& tape) const { return inputs_.on(tape); }
  /// After more tokens. `inputs`: of the convolution, which reads `before` earlier tokens.
  void set(const Tensor& sums, const Tensor& inputs, std::int64_t before) {
    sums_.set(sums);
    if (before > 0) inputs_.set_last(inputs, before);
    length_ += inputs.shape[1];
  }

private:
  std::int64_t length_ = 0;
  SavedTensor sums_, inputs_;
};

/// Heads of each step, [B, steps * heads, T, D], step by step: as a sequence in which a token's steps come one after
/// the other, [B, heads, T * steps, D].
inline Tensor one_after_the_other(const Tensor& x, std::int64_t steps) {
  if (steps == 1) return x;
  const std::int64_t heads = x.shape[1] / steps, tokens = x.shape[2];
  Tensor y = x;
  y.shape = {x.shape[0], heads, tokens, steps, x.shape[3]};
  y.stride = {x.stride[0], x.stride[1], x.stride[2], heads * x.stride[1], x.stride[3]};
  return reshape(y, {x.shape[0], heads, tokens * steps, x.shape[3]});
}

enum class Step { first, last };

/// Heads [B, heads, T, D] as such a sequence, [B, heads, T * steps, D]: each token's numbers in one of its steps, and
/// zeros in the others.
inline Tensor in_step(const Tensor& x, std::int64_t steps, Step step) {
  if (steps == 1) return x;
  const Tensor of_step = unsqueeze(x, 3),
               others = x.tape->zeros({x.shape[0], x.shape[1], x.shape[2], steps - 1, x.shape[3]});
  const Tensor all = step == Step::first ? concat({of_step, others}, 3) : concat({others, of_step}, 3);
  return reshape(all, {x.shape[0], x.shape[1], x.shape[2] * steps, x.shape[3]});
}

/// The inverse of `in_step`, for the last step.
inline Tensor last_steps(const Tensor& x, std::int64_t steps) {
  if (steps == 1) return x;
  const Shape tokens{x.shape[0], x.shape[1], x.shape[2] / steps, steps, x.shape[3]};
  Tensor y = slice(reshape(x, tokens), 3, steps - 1, 1);
  const auto stride = y.stride;
  y.shape = {tokens[0], tokens[1], tokens[2], tokens[4]};
  y.stride = {stride[0], stride[1], stride[2], stride[4]};
  return y;
}

/// A number of each token and head, [B, heads, T, 1], in each of its steps, [B, heads, T * steps, 1].
inline Tensor in_each_step(const Tensor& x, std::int64_t steps) {
  if (steps == 1) return x;
  return reshape(concat(std::vector<Tensor>(static_cast<std::size_t>(steps), x), 3),
                 {x.shape[0], x.shape[1], x.shape[2] * steps, 1});
}

/// The decays of tokens that are no registers; one that is the same at every token, or none, as it is.
inline Tensor without_registers(const Tensor& log_decay, std::int64_t registers) {
  const bool by_token = log_decay.tape && log_decay.shape[2] > registers;
  return by_token && registers > 0 ? slice(log_decay, 2, registers, log_decay.shape[2] - registers) : log_decay;
}

/// Values [B, heads, n, n] of which each shows one row: the results of a recurrence are then its weights.
inline Tensor one_for_each_row(Pass& pass, std::int64_t sequences, std::int64_t heads, std::int64_t n) {
  const Tensor each = pass.tape().zeros({sequences, heads, n, n});
  for (std::int64_t i = 0; i < each.size(); i += n) each.data[i + i / n % n] = 1;
  return each;
}

/// Weights [B, heads, T, T] without the rows and columns of registers.
inline Tensor weights_without_registers(const Tensor& weights, std::int64_t registers) {
  const std::int64_t seen = weights.shape[2] - registers;
  return slice(slice(weights, 2, registers, seen), 3, registers, seen);
}

struct StepsOfTokens {
  std::int64_t steps, registers;
  std::int64_t first; ///< the position of the first token; registers count
};

/// The bounds of such a sequence for the tokens of x [B, T, ...], whose mask counts no registers.
inline RecurrenceBounds bounds_of_steps(Pass& pass, const Mask& mask, const Tensor& x, const StepsOfTokens& of) {
  const std::int64_t steps = of.steps, sequences = x.shape[0];
  RecurrenceBounds out{.segments = mask.query_segments, .first = of.first};
  if (mask.lengths) {
    auto* lengths = pass.tape().keep<std::int32_t>(sequences);
    for (std::int64_t b = 0; b < sequences; ++b)
      lengths[b] = static_cast<std::int32_t>(steps * (mask.lengths[b] + of.registers));
    out.lengths = lengths;
  }
  if (steps > 1 && mask.query_segments.numbers) { // the token before the first one says whether its segment continues
    const std::int64_t from = std::max<std::int64_t>(of.first - 1, 0), before = of.first - from,
                       row = (before + x.shape[1]) * steps;
    auto* numbers = pass.tape().keep<std::int32_t>(sequences * row);
    for (std::int64_t i = 0; i < sequences * row; ++i)
      numbers[i] = mask.query_segments.of(i / row)[from + i % row / steps];
    out.segments = {numbers, row};
    out.first = before * steps;
  }
  return out;
}

} // namespace heed::HEED_REAL
