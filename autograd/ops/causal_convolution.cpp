#include "autograd/causal_convolution.hpp"

#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/operation_count.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

struct Rows {
  const Real *x, *before; // [B, T, C], [B, n - 1, C] or null
  Segments segments;
  std::int64_t first, batch, tokens, channels, taps;

  // The input at `distance` tokens before token t of a sequence; null: there is none, or it belongs to another segment.
  const Real* input(std::int64_t b, std::int64_t t, std::int64_t distance) const {
    const std::int64_t at = t - distance;
    if (at < 0 && (!before || first + at < 0)) return nullptr;
    if (!together(b, t, at)) return nullptr;
    return at >= 0 ? x + (b * tokens + at) * channels : before + (b * (taps - 1) + taps - 1 + at) * channels;
  }
  bool together(std::int64_t b, std::int64_t t, std::int64_t other) const {
    return !segments.numbers || segments.of(b)[first + t] == segments.of(b)[first + other];
  }
};

} // namespace

Tensor causal_convolution(const Tensor& input, const Tensor& weight, const Tensor* bias,
                          const ConvolutionStart& start) {
  const Op op("causal_convolution", {&input, &weight, bias ? bias : &weight}, Counts::yes);
  op.check(input.rank() == 3 && weight.rank() == 2, "x must be [B, T, C] and w [C, n], they have {} and {} axes",
           input.rank(), weight.rank());
  const std::int64_t B = input.shape[0], T = input.shape[1], C = input.shape[2], taps = weight.shape[1];
  if (weight.shape[0] != C || taps < 1)
    op.fail(fmt::format("x and w must share the channels, and w needs a tap: x is {}, w is {}", input.shape.text(),
                        weight.shape.text()));
  if (bias && !(bias->shape == Shape{C}))
    op.fail(fmt::format("the bias must be [{}], it is {}", C, bias->shape.text()));
  const bool has_before = start.before.tape && taps > 1;
  if (has_before && (!(start.before.shape == Shape{B, taps - 1, C}) || start.before.slot->requires_grad))
    op.fail(fmt::format("the inputs before x must be [{}, {}, {}] without a gradient, they are {}", B, taps - 1, C,
                        start.before.shape.text()));
  Tape& tape = op.tape();
  const Tensor x = contiguous(input), w = contiguous(weight), b = bias ? contiguous(*bias) : w;
  const bool biased = bias != nullptr;
  const Tensor before = has_before ? contiguous(start.before) : Tensor{};
  const Tensor y = op.output({B, T, C});
  const Rows rows{x.data, has_before ? before.data : nullptr, start.segments, start.first, B, T, C, taps};
  // [taps, C]: the weights by their distance from the token.
  Real* by_distance = tape.keep<Real>(taps * C);
  if (op.computes())
    for (std::int64_t c = 0; c < C; ++c)
      for (std::int64_t s = 0; s < taps; ++s) by_distance[(taps - 1 - s) * C + c] = w.data[c * taps + s];
  const double operations = 2 * static_cast<double>(B * T * C) * static_cast<double>(taps),
               per_row = per_element * static_cast<double>(C * (taps + 1));
  count_operations(operations);
  in_parallel(op.computed(B * T), per_row, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      Real* const out = y.data + row * C;
      if (biased) std::copy_n(b.data, C, out);
      else std::fill_n(out, C, Real{0});
      for (std::int64_t d = 0; d < taps; ++d) {
        const Real* const in = rows.input(row / T, row % T, d);
        if (!in) continue;
        const Real* const factors = by_distance + d * C;
        map(C, [&](std::int64_t c, int n) {
          store(out + c, fused(load(factors + c, n), load(in + c, n), load(out + c, n), n), n);
        });
      }
    }
  });

  op.record(y, [=] {
    Tape& t = *y.tape;
    count_operations(2 * operations);
    const Real* dy = t.grad(y);
    if (const GradTarget d = t.grad_target(x))
      in_parallel(counting_only() ? 0 : B * T, per_row, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          Real* const out = d.p + row * C;
          if (d.overwrite) std::fill_n(out, C, Real{0});
          for (std::int64_t distance = 0; distance < taps && row % T + distance < T; ++distance) {
            if (!rows.together(row / T, row % T + distance, row % T)) continue;
            const Real *const factors = by_distance + distance * C, *const from = dy + (row + distance) * C;
            map(C, [&](std::int64_t c, int n) {
              store(out + c, fused(load(factors + c, n), load(from + c, n), load(out + c, n), n), n);
            });
          }
        }
      });
    const GradTarget dw = t.grad_target(w), db = biased ? t.grad_target(b) : GradTarget{};
    if ((!dw && !db) || counting_only()) return;
    // A thread has some channels of all tokens, and sums one sequence after the other.
    Real* const sums = t.keep<Real>((taps + 1) * C);
    in_parallel(C, per_element * static_cast<double>(B * T * (taps + 1)), elements_together,
                [&](std::int64_t begin, std::int64_t end) {
                  const std::int64_t some = end - begin;
                  for (std::int64_t i = 0; i < B; ++i) {
                    for (std::int64_t d = 0; d <= taps; ++d) std::fill_n(sums + d * C + begin, some, Real{0});
                    for (std::int64_t token = 0; token < T; ++token) {
                      const Real* const from = dy + (i * T + token) * C + begin;
                      for (std::int64_t d = 0; d <= taps; ++d) {
                        Real* const to = sums + d * C + begin;
                        const Real* const in = d < taps ? rows.input(i, token, d) : nullptr;
                        if (d < taps && !in) continue;
                        map(some, [&](std::int64_t c, int n) {
                          const Simd grad = load(from + c, n), sum = load(to + c, n);
                          store(to + c, in ? fused(grad, load(in + begin + c, n), sum, n) : sum + grad, n);
                        });
                      }
                    }
                    for (std::int64_t c = begin; dw && c < end; ++c)
                      for (std::int64_t s = 0; s < taps; ++s)
                        accumulate(dw.p[c * taps + s], sums[(taps - 1 - s) * C + c], dw.overwrite && i == 0);
                    for (std::int64_t c = begin; db && c < end; ++c)
                      accumulate(db.p[c], sums[taps * C + c], db.overwrite && i == 0);
                  }
                });
    if (B > 0) return;
    if (dw.overwrite) std::fill_n(dw.p, C * taps, Real{0});
    if (db.overwrite) std::fill_n(db.p, C, Real{0});
  });
  return y;
}

} // namespace heed::HEED_REAL
