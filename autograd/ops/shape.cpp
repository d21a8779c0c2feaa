#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/ops.hpp"

namespace heed::HEED_REAL {

namespace {

int checked_axis(const Op& op, int axis, int rank) {
  op.check(axis >= -rank && axis < rank, "there is no axis {} in a tensor of {} axes", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

} // namespace

Tensor contiguous(const Tensor& x) {
  if (x.contiguous()) return x;
  const Op op("contiguous", {&x});
  const Tensor y = op.output(x.shape);
  copy_strided(x.shape, y.data, y.stride, x.data, x.stride, true);
  op.record(y, [=] {
    if (const GradTarget d = x.tape->grad_target(x))
      copy_strided(x.shape, d.p, x.stride, x.tape->grad(y), y.stride, d.overwrite);
  });
  return y;
}

Tensor reshape(const Tensor& input, Shape shape) {
  const Op op("reshape", {&input});
  int open = -1;
  std::int64_t known = 1;
  for (int i = 0; i < shape.rank; ++i) {
    if (shape[i] >= 0) {
      known *= shape[i];
      continue;
    }
    op.check(shape[i] == -1 && open < 0, "only one extent may be left open, with -1");
    open = i;
  }
  if (open >= 0) {
    op.check(known > 0 && input.size() % known == 0, "{} elements do not divide into pieces of {}", input.size(),
             known);
    shape[open] = input.size() / known;
  }
  if (shape.size() != input.size())
    op.fail(fmt::format("{} has {} elements, {} has {}", input.shape.text(), input.size(), shape.text(), shape.size()));
  const Tensor x = contiguous(input);
  return Op::view(x, x.data, shape, shape.row_major());
}

Tensor reshape(const Tensor& x, std::initializer_list<std::int64_t> extents) {
  Shape shape;
  for (std::int64_t e : extents) {
    shape.push_back(0);
    shape[-1] = e;
  }
  return reshape(x, shape);
}

Tensor transpose(const Tensor& x, int axis, int other) {
  const Op op("transpose", {&x});
  axis = checked_axis(op, axis, x.rank());
  other = checked_axis(op, other, x.rank());
  Tensor y = x;
  std::swap(y.shape[axis], y.shape[other]);
  std::swap(y.stride[axis], y.stride[other]);
  return y;
}

Tensor slice(const Tensor& x, int axis, std::int64_t begin, std::int64_t length) {
  const Op op("slice", {&x});
  axis = checked_axis(op, axis, x.rank());
  op.check(begin >= 0 && length >= 0 && begin + length <= x.shape[axis], "[{}, {}) is not within axis {} of {} entries",
           begin, begin + length, axis, x.shape[axis]);
  Tensor y = x;
  if (x.data) y.data += begin * x.stride[axis]; // an empty tensor has no memory
  y.shape[axis] = length;
  return y;
}

Tensor unsqueeze(const Tensor& x, int axis) {
  const Op op("unsqueeze", {&x});
  axis = checked_axis(op, axis, x.rank() + 1);
  Tensor y = x;
  y.shape.push_back(1);
  y.stride.push_back(1);
  for (int i = y.rank() - 1; i > axis; --i) {
    y.shape[i] = y.shape[i - 1];
    y.stride[i] = y.stride[i - 1];
  }
  y.shape[axis] = 1;
  return y;
}

Tensor concat(std::initializer_list<Tensor> parts, int axis) {
  return concat(std::span<const Tensor>(parts.begin(), parts.size()), axis);
}

Tensor concat(std::span<const Tensor> parts, int axis) {
  if (parts.empty()) throw Failed("[concat] there is nothing to put together");
  Tensor out{};
  std::int64_t begin = 0;
  Shape shape = parts.front().shape;
  const Op first("concat", {&parts.front()});
  axis = checked_axis(first, axis, shape.rank);
  shape[axis] = 0;
  bool requires_grad = false;
  for (const Tensor& x : parts) {
    const Op op("concat", {&parts.front(), &x});
    op.check(x.rank() == shape.rank, "the parts have {} and {} axes", shape.rank, x.rank());
    for (int i = 0; i < shape.rank; ++i)
      if (i != axis && x.shape[i] != shape[i])
        op.fail(fmt::format("the parts differ outside of axis {}: {} and {}", axis, parts.front().shape.text(),
                            x.shape.text()));
    shape[axis] += x.shape[axis];
    requires_grad = requires_grad || op.requires_grad();
  }
  Tape& tape = first.tape();
  out = tape.make(shape);
  out.slot->requires_grad = requires_grad;
  for (const Tensor& x : parts) {
    Tensor piece = slice(out, axis, begin, x.shape[axis]);
    copy_strided(x.shape, piece.data, piece.stride, x.data, x.stride, true);
    begin += x.shape[axis];
  }
  const auto n = static_cast<std::int64_t>(parts.size());
  const Tensor* kept = tape.keep_copy(parts.data(), n);
  const Op op("concat", {&out});
  op.record(out, [=] {
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const Tensor& x = kept[i];
      const Real* dy = x.tape->grad(out) + at * out.stride[axis];
      if (const GradTarget d = x.tape->grad_target(x))
        copy_strided(x.shape, d.p, x.stride, dy, out.stride, d.overwrite);
      at += x.shape[axis];
    }
  });
  return out;
}

} // namespace heed::HEED_REAL
