// The caller's arrays as tensors on a tape, and their gradients.
#pragma once

#include "autograd/ops.hpp"
#include "experiments/operators/attention_operator.hpp"

#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// A view of memory that requires no gradient.
Tensor constant_view(Tape& tape, Real* data, const Shape& shape, const Shape& stride);

/// Some entries of an array.
StridedArray entries_of(const StridedArray& array, std::int64_t first, std::int64_t count);

/// The strides of an input's gradient: those of the input if its entries fill their memory one after the other, in any
/// order of the other axes; otherwise those of a contiguous array.
Shape gradient_strides(const Shape& shape, const Shape& stride);

/// The gradient's memory is only known in the backward pass. Until then, this stands for it.
inline Real* gradient_to_come(Real* values) { return values; }

/// An operand of a part: the tensor, and the leaf whose gradient is wanted, which is empty if there is none.
struct OperatorOperand {
  Tensor value, leaf;
};
/// @param stride  that of its gradient
OperatorOperand operand(Tape& tape, const StridedArray& array, bool differentiable, const Shape& stride);

/// Makes each dy the gradient of its y. Returns the tensor at which a backward pass begins. There are one or two, and
/// two have different elements.
Tensor with_gradients(const std::vector<std::pair<Tensor, StridedArray>>& of);

} // namespace heed::HEED_REAL
