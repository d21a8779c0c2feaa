#include "autograd/attention.hpp"
#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/row_rule.hpp"

namespace heed::HEED_REAL {

namespace {

// Rows [B, H, T] of the two maps, of lambda and of the result. `first` is the row of the first map, and the second
// map's is `second` numbers later.
struct DifferenceRows {
  Tensor x, lambda, y;
  Shape shape;
  std::int64_t second;

  // Calls f(first, of lambda, of the result, number of the row) for each row, with offsets in memory.
  template <class F> void each(F&& f) const {
    const Shape of_x{x.stride[0], 2 * x.stride[1], x.stride[2]}, of_y{y.stride[0], y.stride[1], y.stride[2]};
    walk_in_parallel<4>(shape, {of_y, of_x, of_lambda(), numbers()}, per_element * static_cast<double>(x.shape[3]),
                        [&](auto at, std::int64_t n, const auto& step) {
                          for (std::int64_t i = 0; i < n; ++i)
                            f(at[1] + i * step[1], at[2] + i * step[2], at[0] + i * step[0], at[3] + i * step[3]);
                        });
  }
  Shape of_lambda() const {
    return stretched({lambda.shape[0], lambda.shape[1], lambda.shape[2]},
                     {lambda.stride[0], lambda.stride[1], lambda.stride[2]}, shape);
  }
  Shape numbers() const { return {shape[1] * shape[2], shape[2], 1}; }
};

} // namespace

Tensor difference_of_maps(const Tensor& given, const Tensor& lambda) {
  const Op op("difference_of_maps", {&given, &lambda});
  op.check(given.rank() == 4 && given.shape[1] % 2 == 0, "x must be [B, 2 H, T, D], it is {}", given.shape.text());
  const Shape shape{given.shape[0], given.shape[1] / 2, given.shape[2]};
  bool fits = lambda.rank() == 4 && lambda.shape[3] == 1;
  for (int i = 0; fits && i < 3; ++i) fits = lambda.shape[i] == 1 || lambda.shape[i] == shape[i];
  op.check(fits, "lambda must be [B or 1, H or 1, T or 1, 1], it is {}; x is {}", lambda.shape.text(),
           given.shape.text());

  const Tensor x = given.stride[3] == 1 ? given : contiguous(given);
  const std::int64_t width = x.shape[3];
  // As the heads of x, those of the result may stand together in memory for each query.
  const bool by_query = x.stride[1] < x.stride[2];
  const Tensor out = by_query ? op.output({shape[0], shape[2], shape[1], width})
                              : op.output({shape[0], shape[1], shape[2], width});
  const DifferenceRows rows{x, lambda, by_query ? transpose(out, 1, 2) : out, shape, x.stride[1]};
  if (op.computes())
    rows.each([&](std::int64_t at_x, std::int64_t at_lambda, std::int64_t at_y, std::int64_t) {
      const Real *first = x.data + at_x, *second = first + rows.second;
      Real* y = rows.y.data + at_y;
      const Real factor = lambda.data[at_lambda];
      for (std::int64_t j = 0; j < width; ++j) y[j] = first[j] - factor * second[j];
    });

  op.record(out, [=] {
    Tape& tape = *out.tape;
    const Real* dy = tape.grad(out);
    const GradTarget d = tape.grad_target(x);
    Real* const d_lambda = tape.grad_accumulator(rows.lambda);
    Tape::Scratch scratch(tape);
    Real* const sums = scratch.take<Real>(shape.size());
    rows.each([&](std::int64_t at_x, std::int64_t at_lambda, std::int64_t at_y, std::int64_t number) {
      const Real* g = dy + at_y;
      if (d) {
        Real *first = d.p + at_x, *second = first + rows.second;
        const Real factor = -rows.lambda.data[at_lambda];
        for (std::int64_t j = 0; j < width; ++j) accumulate(first[j], g[j], d.overwrite);
        for (std::int64_t j = 0; j < width; ++j) accumulate(second[j], factor * g[j], d.overwrite);
      }
      sums[number] = -row_dot(g, x.data + at_x + rows.second, width);
    });
    if (!d_lambda) return;
    walk<2>(shape, {rows.of_lambda(), rows.numbers()}, [&](auto at, std::int64_t n, const auto& step) {
      for (std::int64_t i = 0; i < n; ++i) d_lambda[at[0] + i * step[0]] += sums[at[1] + i * step[1]];
    });
  });
  return rows.y;
}

} // namespace heed::HEED_REAL
