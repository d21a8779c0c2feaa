#include "autograd/kernels/packed_weight.hpp"

#include "autograd/kernels/packed_product.hpp"
#include "autograd/operation_count.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

// The depth of a product's blocks (packed_product.cpp). Gathering more rows would gain nothing.
constexpr std::int64_t enough_rows = 256;

void add_gathered(PackedWeight& s) {
  const Tensor& w = s.weight;
  const GradTarget d = s.gathered > 0 ? w.tape->grad_target(w) : GradTarget{};
  if (d)
    gemm(row_major(s.grad_outputs, s.gathered, w.shape[0]).transposed(), row_major(s.inputs, s.gathered, w.shape[1]),
         {d.p, w.shape[0], w.shape[1], w.stride[0], w.stride[1]}, 1, d.overwrite ? 0 : 1);
  s.gathered = 0;
}

PackedWeight* make(const Tensor& w, std::int64_t rows, PackedWeight* next) {
  const Op op("packed_weight", {&w}, Counts::yes);
  Tape& tape = op.tape();
  const Matrix m{w.data, w.shape[0], w.shape[1], w.stride[0], w.stride[1]};
  auto* s = new (tape.keep<PackedWeight>(1)) PackedWeight{};
  s->weight = w;
  s->next = next;
  const auto packed = [&](const Matrix& of) -> PackedMatrix {
    Real* to = tape.keep<Real>(packed_size(of.rows, of.columns));
    return op.computes() ? pack_matrix(of, to) : PackedMatrix{to, of.rows, of.columns};
  };
  s->forwards = packed(m.transposed());
  s->room = std::max(rows, enough_rows / rows * rows);
  s->node = op.output({1});
  s->node.data[0] = 0; // anomaly detection reads it
  if (!tape.recording()) return s;
  s->backwards = packed(m);
  if (!op.requires_grad()) return s;
  s->inputs = tape.keep<Real>(s->room * m.columns);
  s->grad_outputs = tape.keep<Real>(s->room * m.rows);
  op.record(s->node, [=] { add_gathered(*s); });
  return s;
}

} // namespace

Real* PackedWeight::gather(const Matrix& x) {
  const GradTarget mark = weight.tape->grad_target(node);
  if (!mark) return nullptr;
  *mark.p = 0;
  if (gathered + x.rows > room) add_gathered(*this);
  Real* to = inputs + gathered * x.columns;
  for (std::int64_t i = 0, some = counting_only() ? 0 : x.rows; i < some; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) to[i * x.columns + j] = x.p[i * x.row_stride + j * x.column_stride];
  Real* dy = grad_outputs + gathered * weight.shape[0];
  gathered += x.rows;
  return dy;
}

PackedWeight* packed_weight(const Tensor& w, std::int64_t rows) {
  if (!own_product) return nullptr;
  Tape::PackedWeightCache* steps = w.tape->packed_weights();
  if (!steps || rows == 0 || w.size() == 0) return nullptr;
  for (PackedWeight* s = steps->weights; s; s = s->next)
    if (s->weight.slot == w.slot && s->weight.data == w.data && s->weight.shape == w.shape)
      return rows <= s->room ? s : nullptr;
  return steps->weights = make(w, rows, steps->weights);
}

} // namespace heed::HEED_REAL
