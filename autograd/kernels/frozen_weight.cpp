#include "autograd/kernels/frozen_weight.hpp"

#include "autograd/kernels/packed_product.hpp"
#include "autograd/operation_count.hpp"

namespace heed::HEED_REAL {

const PackedMatrix* frozen_weight(const Tensor& w) {
  if (!own_product || counting_only() || w.size() == 0) return nullptr;
  Tape::FrozenWeights* fixed = w.tape->frozen_weights();
  if (!fixed || w.tape->recording() || !fixed->has(w.data)) return nullptr;
  for (FrozenWeight* f = fixed->weights; f; f = f->next)
    if (f->data == w.data && f->shape == w.shape && f->stride == w.stride) return &f->packed;
  const Matrix m{w.data, w.shape[0], w.shape[1], w.stride[0], w.stride[1]};
  Real* to = fixed->memory.take_array<Real>(packed_size(m.columns, m.rows));
  auto* made = new (fixed->memory.take_array<FrozenWeight>(1))
      FrozenWeight{w.data, w.shape, w.stride, pack_matrix(m.transposed(), to), fixed->weights};
  fixed->weights = made;
  return &made->packed;
}

} // namespace heed::HEED_REAL
