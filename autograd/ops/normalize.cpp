#include "autograd/normalize.hpp"

#include "autograd/kernels/random_blocks.hpp"
#include "autograd/kernels/seen.hpp"
#include "autograd/kernels/simd.hpp"

#include <algorithm>
#include <limits>

namespace heed::HEED_REAL {

// The row's value is the largest score.
void SoftmaxRule::weights(const Real* s, Real* w, RowKeys keys, Real*, Real& top) const {
  top = row_largest(s, keys.n);
  if (top == -std::numeric_limits<Real>::infinity() && !row_has_nan(s, keys.n)) {
    std::fill_n(w, keys.n, Real{0});
    return;
  }
  const Real inverse = 1 / row_exponentials(s, top, w, keys.n);
  map(keys.n, [&](std::int64_t j, int m) { store(w + j, load(w + j, m) * inverse, m); });
}

void SoftmaxRule::backward(Real, const Real*, const Real* w, const Real* dw, Real* ds, RowKeys keys, Real*) const {
  const Real along = row_dot(w, dw, keys.n);
  map(keys.n, [&](std::int64_t j, int m) { store(ds + j, load(w + j, m) * (load(dw + j, m) - along), m); });
}

void SoftmaxRule::weights_and_backward(Real top, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                                       Real* scratch) const {
  if (top == -std::numeric_limits<Real>::infinity())
    return RowRule::weights_and_backward(top, s, w, dw, ds, keys, scratch);
  const Real inverse = 1 / row_exponentials(s, top, w, keys.n), along = row_scale_and_dot(inverse, w, dw, keys.n);
  map(keys.n, [&](std::int64_t j, int m) { store(ds + j, load(w + j, m) * (load(dw + j, m) - along), m); });
}

Tensor normalize_rows(const char* name, const Tensor& input, const Mask& mask, const RowRules& given) {
  Op op(name, {&input});
  op.require_grad(given.requires_grad());
  op.check(input.rank() == 4, "x must be [B, H, Tq, Tk], it has {} axes", input.rank());
  const Tensor x = contiguous(input), y = op.output(x.shape);
  const std::int64_t heads = x.shape[1], queries = x.shape[2], keys = x.shape[3];
  const std::int64_t rows = x.shape[0] * heads * queries;
  const auto seen = [=](std::int64_t r) {
    const std::int64_t b = r / (heads * queries), h = r / queries % heads, i = r % queries;
    return Seen{mask.range(b, i, keys), mask.row(b, h, i, queries, keys)};
  };
  const std::int64_t room = whole_vectors(keys);
  Real* scratch = op.tape().keep<Real>(6 * room);
  Real* values = op.tape().keep<Real>(rows);
  const RowRules* rules = &given;
  const auto rule = [=](std::int64_t r) -> const RowRule& { return rules->of_head(r / queries % heads); };
  const auto keys_of = [=, offset = mask.offset](const Seen& s, std::int64_t r) {
    return s.keys(rule(r), r % queries + offset);
  };
  for (std::int64_t r = 0, some = op.computed(rows); r < some; ++r) {
    const Seen s = seen(r);
    const RowKeys row = keys_of(s, r);
    values[r] = 0;
    rule(r).row_weights(s.gather(x.data + r * keys, scratch), scratch + room, row, scratch + 2 * room, values[r]);
    s.scatter(scratch + room, y.data + r * keys, keys, true);
  }
  op.record(y, [=] {
    const GradTarget d = y.tape->grad_target(x);
    if (!d && !rules->requires_grad()) return;
    const Real* dy = y.tape->grad(y);
    rules->begin_backward();
    for (std::int64_t r = 0; r < rows; ++r) {
      const Seen s = seen(r);
      const RowKeys row = keys_of(s, r);
      const std::int64_t at = r * keys;
      rule(r).row_backward(values[r], s.gather(x.data + at, scratch), s.gather(y.data + at, scratch + room),
                           s.gather(dy + at, scratch + 2 * room), scratch + 3 * room, row, scratch + 4 * room);
      if (d) s.scatter(scratch + 3 * room, d.p + at, keys, d.overwrite);
    }
    rules->end_backward(*y.tape);
  });
  return y;
}

Tensor gumbel_noise(Tape& tape, const Shape& shape, const RandomKey& key, const Numbering& numbers) {
  const Tensor g = tape.make(shape);
  const std::int64_t width = shape.rank && shape[-1] > 0 ? shape[-1] : 1;
  numbers.each_run(0, shape.size() / width, width, [&](std::int64_t at, std::uint64_t first, std::int64_t n) {
    gumbel_numbers(key, first, n, g.data + at);
  });
  return g;
}

} // namespace heed::HEED_REAL
