#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/ops.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

Tensor embedding(const Tensor& rows, const std::int32_t* tokens, const Shape& shape) {
  const Op op("embedding", {&rows});
  op.check(rows.rank() == 2, "the table must be [vocabulary, width], it has {} axes", rows.rank());
  const Tensor table = contiguous(rows);
  const std::int64_t vocabulary = table.shape[0], width = table.shape[1], n = shape.size();
  for (std::int64_t i = 0; i < n; ++i)
    op.check(tokens[i] >= 0 && tokens[i] < vocabulary, "token {} at {} is not within the vocabulary of {}", tokens[i],
             i, vocabulary);
  const std::int32_t* kept = op.tape().keep_copy(tokens, n);
  Shape result = shape;
  result.push_back(width);
  const Tensor y = op.output(result);
  if (op.computes())
    in_parallel(n, per_element * static_cast<double>(width), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) std::copy_n(table.data + kept[i] * width, width, y.data + i * width);
    });
  op.record(y, [=] {
    const GradTarget d = table.tape->grad_target(table);
    if (!d) return;
    if (d.overwrite) std::fill_n(d.p, table.size(), Real{0});
    const Real* dy = table.tape->grad(y);
    in_parallel(width, per_element * static_cast<double>(n), elements_together,
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t i = 0; i < n; ++i) {
                    Real* p = d.p + kept[i] * width + begin;
                    const Real* from = dy + i * width + begin;
                    map(end - begin,
                        [&](std::int64_t k, int m) { store(p + k, load(p + k, m) + load(from + k, m), m); });
                  }
                });
  });
  return y;
}

} // namespace heed::HEED_REAL
