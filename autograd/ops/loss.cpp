#include "autograd/kernels/exponential.hpp"
#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/ops.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

Tensor cross_entropy(const Tensor& input, const std::int32_t* targets, const CrossEntropyOptions& options) {
  const Op op("cross_entropy", {&input});
  op.check(input.rank() >= 1 && input.shape[-1] > 0, "the logits need a last axis with a class");
  const Tensor logits = contiguous(input);
  const std::int64_t classes = logits.shape[-1], rows = logits.size() / classes;
  std::int64_t counted = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    if (targets[r] == options.ignore) continue;
    op.check(targets[r] >= 0 && targets[r] < classes, "target {} of row {} is not within the {} classes", targets[r], r,
             classes);
    ++counted;
  }
  const std::int32_t* kept = op.tape().keep_copy(targets, rows);
  const std::int32_t ignore = options.ignore;
  const Real smoothing = options.label_smoothing, spread = smoothing / static_cast<Real>(classes);
  const Real divisor = options.divisor > 0 ? options.divisor : std::max(Real{1}, static_cast<Real>(counted));
  Real* normaliser = op.tape().keep<Real>(rows); // log-sum-exp of each row

  // Of each row: the loss at the target, and what label smoothing adds.
  double* losses = op.tape().keep<double>(2 * rows);
  const auto loss_of_row = [&](std::int64_t r) {
    const Real* p = logits.data + r * classes;
    const Real top = largest(p, classes);
    Simd sums(Real{0});
    std::int64_t c = 0;
    for (; c + lanes <= classes; c += lanes) sums += exponential(load(p + c) - top);
    Real sum = lane_sum(sums);
    for (; c < classes; ++c) sum += std::exp(p[c] - top);
    const Real all = normaliser[r] = top + std::log(sum);
    losses[2 * r] = static_cast<double>(all - p[kept[r]]);
    if (smoothing > 0)
      losses[2 * r + 1] = spread * sum_over(classes,
                                            [&](std::int64_t k, int n) {
                                              return n == lanes ? all - load(p + k) : load(p + k, n) * Real{-1};
                                            }) +
                          spread * all * static_cast<Real>(classes % lanes);
  };
  in_parallel(op.computed(rows), per_exponential * static_cast<double>(classes), 1,
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t r = begin; r < end; ++r)
                  if (kept[r] != ignore) loss_of_row(r);
              });
  double total = 0;
  for (std::int64_t r = 0, some = op.computed(rows); r < some; ++r) {
    if (kept[r] == ignore) continue;
    total += (1 - smoothing) * losses[2 * r];
    if (smoothing > 0) total += losses[2 * r + 1];
  }
  const Tensor y = op.output({});
  y.data[0] = static_cast<Real>(total / divisor);

  // dlogits = (softmax - target) dy / divisor
  op.record(y, [=] {
    const GradTarget d = logits.tape->grad_target(logits);
    if (!d) return;
    const Real factor = logits.tape->grad(y)[0] / divisor;
    in_parallel(rows, per_exponential * static_cast<double>(classes), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        Real* g = d.p + r * classes;
        if (kept[r] == ignore) {
          if (d.overwrite) std::fill_n(g, classes, Real{0});
          continue;
        }
        const Real* p = logits.data + r * classes;
        const Real all = normaliser[r];
        map(classes, [&](std::int64_t c, int n) {
          accumulate_product(g + c, Simd(factor), exponential(load(p + c, n) - all) - spread, d.overwrite, n);
        });
        g[kept[r]] -= factor * (1 - smoothing);
      }
    });
  });
  return y;
}

} // namespace heed::HEED_REAL
