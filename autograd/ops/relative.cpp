#include "autograd/relative.hpp"

#include "autograd/kernels/pack.hpp"

#include <algorithm>
#include <numeric>

namespace heed::HEED_REAL {

namespace {

// Rows of queries whose keys lie at clipped distances. Keys [0, begin) are at -clip or beyond, keys [end, keys) at clip
// or beyond, and between them distances grow one by one.
struct Distances {
  std::int64_t rows, queries, keys, clip, offset;

  struct Row {
    std::int64_t begin, end, column;  // the column of key `begin`
  };
  Row row(std::int64_t r) const {
    const std::int64_t at = r % queries + offset;
    const std::int64_t begin = std::clamp<std::int64_t>(at - clip, 0, keys);
    const std::int64_t end = std::clamp<std::int64_t>(at + clip + 1, begin, keys);
    return {begin, end, begin - at + clip};
  }
  std::int64_t columns() const { return 2 * clip + 1; }

  // y (+)= numbers of p [rows, columns] by key: [rows, keys].
  void spread(const Real* p, Real* y, bool first) const {
    for (std::int64_t r = 0; r < rows; ++r, p += columns(), y += keys) {
      const Row d = row(r);
      for (std::int64_t j = 0; j < d.begin; ++j) deposit(y[j], p[0], first);
      map(d.end - d.begin, [&](std::int64_t j, int n) {
        deposit(y + d.begin + j, load(p + d.column + j, n), first, n);
      });
      for (std::int64_t j = d.end; j < keys; ++j) deposit(y[j], p[columns() - 1], first);
    }
  }
  // y (+)= sums of w [rows, keys] by column: [rows, columns].
  void gather(const Real* w, Real* y, bool first) const {
    for (std::int64_t r = 0; r < rows; ++r, w += keys, y += columns()) {
      const Row d = row(r);
      if (first) std::fill_n(y, columns(), Real{0});
      y[0] += std::accumulate(w, w + d.begin, Real{0});
      for (std::int64_t j = d.begin; j < d.end; ++j) y[d.column + j - d.begin] += w[j];
      y[columns() - 1] += std::accumulate(w + d.end, w + keys, Real{0});
    }
  }
};

} // namespace

Tensor by_distance(const Tensor& input, std::int64_t keys, std::int64_t offset) {
  const Op op("by_distance", {&input});
  op.check(input.rank() >= 2 && input.shape[-1] % 2 == 1, "p must be [..., Tq, 2 clip + 1], it is {}",
           input.shape.text());
  op.check(keys >= 0, "there are {} keys", keys);
  const Tensor p = contiguous(input);
  Shape shape = p.shape;
  shape[-1] = keys;
  const Distances d{p.size() / p.shape[-1], p.shape[-2], keys, p.shape[-1] / 2, offset};
  const Tensor y = op.output(shape);
  d.spread(p.data, y.data, true);
  op.record(y, [=] {
    if (const Into into = y.tape->into(p)) d.gather(y.tape->grad(y), into.p, into.first);
  });
  return y;
}

Tensor sum_by_distance(const Tensor& input, std::int64_t clip, std::int64_t offset) {
  const Op op("sum_by_distance", {&input});
  op.check(input.rank() >= 2, "w must be [..., Tq, Tk], it is {}", input.shape.text());
  op.check(clip >= 0, "the clip is {}", clip);
  const Tensor w = contiguous(input);
  std::int64_t rows = 1;
  for (int i = 0; i < w.rank() - 1; ++i) rows *= w.shape[i];
  Shape shape = w.shape;
  shape[-1] = 2 * clip + 1;
  const Distances d{rows, w.shape[-2], w.shape[-1], clip, offset};
  const Tensor y = op.output(shape);
  d.gather(w.data, y.data, true);
  op.record(y, [=] {
    if (const Into into = y.tape->into(w)) d.spread(y.tape->grad(y), into.p, into.first);
  });
  return y;
}

} // namespace heed::HEED_REAL
