// The linear recurrence (autograd/linear_recurrence.hpp) as an operator of another framework: forward and backward on
// the caller's arrays.
#pragma once

#include "experiments/operators/attention_operator.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace heed {

/// The arguments of a call. An array without axes is absent. All memory must stay valid until the call, and the
/// backward call of its state, have returned.
struct RecurrenceCall {
  StridedArray queries, keys;   ///< [B, Hk, T, K]: H / Hk heads in succession share them
  StridedArray values;          ///< [B, H, T, V]
  StridedArray log_decay{};     ///< [B, H, T, K or 1]; absent: the state does not decay
  StridedArray initial_state{}; ///< [B, H, K, V]; absent: zeros
  StridedArray erase{};         ///< [B, H, T, K or 1]; absent: no erase. One number is the write's strength, too
  std::array<bool, 6> differentiable{};   ///< which of these six require a gradient
  const std::int32_t* lengths = nullptr;  ///< [B]: the tokens of each sequence; null: all
  const std::int32_t* segments = nullptr; ///< [B, T], contiguous: the segment of each token; null: one
  int threads = 1;

  std::array<const StridedArray*, 6> inputs() const {
    return {&queries, &keys, &values, &log_decay, &initial_state, &erase};
  }
};

/// The results of a call, or their gradients.
struct RecurrenceArrays {
  StridedArray outputs;       ///< [B, H, T, V]
  StridedArray final_state{}; ///< [B, H, K, V]; absent: it is not wanted
};

/// Both functions throw heed::Refused, before they read or write the caller's memory, if shapes or lengths do not fit
/// together.
struct RecurrenceOperator {
  /// Writes the results to `to`. If an argument requires a gradient, returns the state for `backward`, else null.
  std::unique_ptr<OperatorState> (*forward)(const RecurrenceCall& call, const RecurrenceArrays& to);
  /// Writes the gradients of a loss whose gradients for the results are `of`. `gradients`: of each argument that
  /// requires one, in order, with strides as in AttentionOperator::backward. `state` may be used once; null, or the
  /// state of a call with other memory: the forward pass is computed again.
  void (*backward)(const RecurrenceCall& call, std::unique_ptr<OperatorState> state, const RecurrenceArrays& of,
                   const std::vector<void*>& gradients);
};

} // namespace heed
