#include "autograd/recompute.hpp"

#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/operation_count.hpp"

namespace heed::HEED_REAL {

namespace {

// Copies z, the result of piece i, to its part of y.
Tensor put(const char* name, const Tensor& y, const Pieces& pieces, std::int64_t i, const Tensor& z) {
  const Tensor to = pieces.part(pieces.work, y, i);
  if (z.tape != y.tape || to.slot != y.slot || z.shape != to.shape)
    throw Failed(fmt::format("[{}] piece {} is {}, and its part of the result is {}", name, i, z.shape.text(),
                             to.shape.text()));
  copy_strided(z.shape, to.data, to.stride, z.data, z.stride, true);
  return z;
}

// Passes the gradient of piece i's part of y to the piece's result z.
void give_gradient(const Tensor& z, const Tensor& y, const Pieces& pieces, std::int64_t i) {
  const Tensor from = pieces.part(pieces.work, y, i);
  if (const GradTarget d = y.tape->grad_target(z))
    copy_strided(z.shape, d.p, z.stride, y.tape->grad(from), from.stride, d.overwrite);
}

Tensor keep_pieces(const char* name, const Tensor& y, const Pieces& pieces, const void* first,
                   Tensor (*make_first)(const void*, std::int64_t)) {
  Tensor* kept = y.tape->keep<Tensor>(pieces.count);
  for (std::int64_t i = 0; i < pieces.count; ++i) {
    kept[i] = put(name, y, pieces, i, make_first(first, i));
    y.slot->requires_grad = y.slot->requires_grad || kept[i].slot->requires_grad;
  }
  const Op op(name, {&y});
  op.record(y, [=] {
    for (std::int64_t i = 0; i < pieces.count; ++i) give_gradient(kept[i], y, pieces, i);
  });
  return y;
}

} // namespace

void put_into(const Tensor& y, const Tensor& x) {
  if (x.shape != y.shape)
    throw Failed(fmt::format("[put_into] {} does not fit into {}", x.shape.text(), y.shape.text()));
  copy_strided(y.shape, y.data, y.stride, x.data, x.stride, true);
}

Tensor recompute(const char* name, const Tensor& y, const Pieces& pieces, const void* first,
                 Tensor (*make_first)(const void*, std::int64_t)) {
  if (!y.tape->recording()) {
    for (std::int64_t i = 0; i < pieces.count; ++i) {
      const Tape::ArenaScope transient(*y.tape);
      put(name, y, pieces, i, make_first(first, i));
    }
    const Op op(name, {&y});
    op.record(y, [] {}); // lets anomaly detection check y
    return y;
  }
  if (y.tape->nested()) return keep_pieces(name, y, pieces, first, make_first);
  for (std::int64_t i = 0; i < pieces.count; ++i) {
    const Tape::NestedTape aside(*y.tape);
    const Tensor z = put(name, y, pieces, i, make_first(first, i));
    y.slot->requires_grad = y.slot->requires_grad || z.slot->requires_grad;
  }
  const Op op(name, {&y}, Counts::yes);
  op.record(y, [=] {
    Tape& tape = *y.tape;
    const bool recorded = tape.recording();
    tape.record(true);
    for (std::int64_t i = pieces.count; i-- > 0;) {
      Tape::NestedTape aside(tape);
      const double counted = counted_operations();
      const Tensor z = pieces.make(pieces.work, i);
      count_operations(counted - counted_operations()); // count the recomputed operations only once
      give_gradient(z, y, pieces, i);
      aside.backward();
    }
    tape.record(recorded);
  });
  return y;
}

} // namespace heed::HEED_REAL
