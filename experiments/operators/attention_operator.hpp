// Attention as an operator of another framework, such as PyTorch: forward and backward on the caller's arrays. One
// object serves any batch and any lengths, and several threads at the same time.
#pragma once

#include "autograd/shape.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heed {

struct Config;

/// What an operator computes, and the sizes that its parameters are made for.
struct OperatorSizes {
  enum class Kind {
    heads, ///< queries [B, H, Tq, Dq], keys [B, Hk, Tk, Dk], values [B, Hk, Tk, Dv] to [B, H, Tq, Dv]
    self,  ///< multi-head self attention with its projections: [B, T, width] to [B, T, width]
    cross, ///< multi-head cross attention: [B, Tq, width] and the encoder output [B, Tk, memory_width]
  };
  Kind kind = Kind::heads;
  std::int64_t heads = 1;
  std::int64_t query_width = 0, key_width = 0, value_width = 0; ///< heads: of one head
  std::int64_t width = 0;                                       ///< self, cross: of the input and of the result
  std::int64_t memory_width = 0;                                ///< cross: of the encoder output
  std::int64_t longest = 0; ///< upper bound on the number of keys, for parameters by position
};

/// A parameter of an operator. Its name is that of a checkpoint, without the name of the layer: "score.query".
struct OperatorParameter {
  std::string name;
  Shape shape;
};

/// An array of the caller, of the operator's precision. Strides are in elements and not negative.
struct StridedArray {
  void* data = nullptr;
  Shape shape, stride;
};

/// The arguments of a call. All memory must stay valid until the call, and the backward call of its state, have
/// returned.
struct OperatorCall {
  std::vector<StridedArray> inputs;    ///< heads: queries, keys, values; self: x; cross: x, memory
  std::vector<const void*> parameters; ///< contiguous, in the order of AttentionOperator::parameters
  /// heads: [H or 1, Tq, Tk], contiguous, added to the scores. Empty: none.
  StridedArray bias{};
  /// Which of the inputs, then of the parameters, and then the bias, if there is one, require a gradient. Empty: none.
  std::vector<bool> differentiable{};
  std::int64_t offset = 0;                           ///< the position of query 0
  const std::int32_t* lengths = nullptr;             ///< [B]: the number of keys of each batch entry; null: all
  const std::uint8_t* allowed = nullptr;             ///< as Mask::allowed, contiguous; null: everywhere
  std::int64_t allowed_batch = 1, allowed_heads = 1; ///< B or 1, H or 1
  bool training = false;                             ///< are dropout and noise active?
  std::uint64_t seed = 0;                            ///< determines dropout and noise
  int threads = 1;
};

/// What the backward pass of one forward pass needs.
class OperatorState {
public:
  virtual ~OperatorState() = default;
};

class AttentionOperator {
public:
  virtual ~AttentionOperator() = default;
  virtual const std::vector<OperatorParameter>& parameters() const = 0;
  /// The width of the result.
  virtual std::int64_t result_width() const = 0;
  /// Draws the initial values of all parameters, as a model with this seed would. `to`: contiguous, as `parameters`.
  virtual void initialise(std::uint64_t seed, const std::vector<void*>& to) const = 0;
  /// Writes the result to `y`. If an argument requires a gradient, returns the state for `backward`, else null.
  virtual std::unique_ptr<OperatorState> forward(const OperatorCall& call, const StridedArray& y) const = 0;
  /// Writes the gradients of a loss whose gradient for the result is `dy`. `gradients`: of each argument that requires
  /// one, in order. The gradient of an input has the input's strides if these are those of a contiguous array, or of
  /// one whose axes after the first were permuted. Other gradients are contiguous. `state` may be used once; null, or
  /// the state of a call with other memory: the forward pass is computed again.
  virtual void backward(const OperatorCall& call, std::unique_ptr<OperatorState> state, const StridedArray& dy,
                        const std::vector<void*>& gradients) const = 0;
};

} // namespace heed
