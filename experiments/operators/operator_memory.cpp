#include "experiments/operators/operator_memory.hpp"

#include "autograd/recompute.hpp"

namespace heed::HEED_REAL {

Tensor constant_view(Tape& tape, Real* data, const Shape& shape, const Shape& stride) {
  std::int64_t span = 1;
  for (int i = 0; i < shape.rank; ++i) span += (shape[i] - 1) * stride[i];
  return Op::view(tape.constant(data, {shape.size() == 0 ? 0 : span}), data, shape, stride);
}

StridedArray entries_of(const StridedArray& array, std::int64_t first, std::int64_t count) {
  StridedArray some = array;
  some.data = static_cast<Real*>(array.data) + first * array.stride[0];
  some.shape[0] = count;
  return some;
}

Shape gradient_strides(const Shape& shape, const Shape& stride) {
  std::int64_t next = 1, block = 1; // the number of elements of the axes so far, and of all axes after the first
  for (int i = 1; i < shape.rank; ++i) block *= shape[i];
  while (next < block) {
    int axis = 1;
    while (axis < shape.rank && (shape[axis] == 1 || stride[axis] != next)) ++axis;
    if (axis == shape.rank) return shape.row_major();
    next *= shape[axis];
  }
  return shape[0] == 1 || stride[0] == next ? stride : shape.row_major();
}

OperatorOperand operand(Tape& tape, const StridedArray& array, bool differentiable, const Shape& stride) {
  auto* data = static_cast<Real*>(array.data);
  const Tensor given = constant_view(tape, data, array.shape, array.stride);
  if (!differentiable) return {given, {}};
  if (!(stride == array.stride)) {
    data = tape.keep<Real>(array.shape.size());
    put_into(constant_view(tape, data, array.shape, stride), given);
  }
  const Tensor leaf = tape.leaf(data, gradient_to_come(data), {array.shape.size()});
  return {Op::view(leaf, data, array.shape, stride), leaf};
}

Tensor with_gradients(const std::vector<std::pair<Tensor, StridedArray>>& of) {
  const Tensor y = of.front().first, other = of.back().first;
  const Op op("gradient", {&y, &other});
  const Tensor end = op.output({1});
  end.data[0] = 0;
  const auto view = [&](const StridedArray& dy) {
    return constant_view(*y.tape, static_cast<Real*>(dy.data), dy.shape, dy.stride);
  };
  const Tensor dy = view(of.front().second), d_other = view(of.back().second);
  const bool has_other = of.size() > 1;
  op.record(end, [y, other, dy, d_other, has_other] {
    const auto put = [](Tensor to, const Tensor& from) {
      to.data = to.tape->grad_target(to).p;
      put_into(to, from);
    };
    put(y, dy);
    if (has_other) put(other, d_other);
  });
  return end;
}

} // namespace heed::HEED_REAL
