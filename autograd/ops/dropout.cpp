#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/kernels/random_blocks.hpp"
#include "autograd/ops.hpp"

namespace heed::HEED_REAL {

Tensor dropout(const Tensor& input, double probability, const RandomKey& key, const Numbering& numbers) {
  const Op op("dropout", {&input});
  op.check(probability >= 0 && probability < 1, "the probability must be in [0, 1), it is {}", probability);
  if (probability == 0) return input;
  const Tensor x = contiguous(input);
  const std::int64_t n = x.size();
  const Tensor y = op.output(x.shape);
  Real* factor = op.tape().keep<Real>(n); // 0 or 1 / (1 - probability)
  if (op.computes()) {
    const std::int64_t width = x.rank() && x.shape[-1] > 0 ? x.shape[-1] : 1;
    in_parallel(n / width, per_random_number * static_cast<double>(width), 1,
                [&](std::int64_t begin, std::int64_t end) {
                  numbers.each_run(begin, end, width, [&](std::int64_t i, std::uint64_t number, std::int64_t m) {
                    dropout_factors(probability, key, number, m, factor + i);
                  });
                });
    map_in_parallel(n, per_element,
                    [&](std::int64_t i, int m) { store(y.data + i, load(x.data + i, m) * load(factor + i, m), m); });
  }
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    map_in_parallel(n, per_element, [&](std::int64_t i, int m) {
      accumulate_product(d.p + i, load(dy + i, m), load(factor + i, m), d.overwrite, m);
    });
  });
  return y;
}

} // namespace heed::HEED_REAL
