#include "autograd/images.hpp"
#include "autograd/kernels/simd.hpp"

#include <cmath>

namespace heed::HEED_REAL {

Tensor group_norm(const Tensor& input, std::int64_t groups, const Tensor& gains, const Tensor& biases, Real epsilon) {
  const Op op("group_norm", {&input, &gains, &biases});
  op.check(input.rank() >= 2, "x must be [B, C, ...], it has {} axes", input.rank());
  const std::int64_t B = input.shape[0], C = input.shape[1];
  op.check(groups >= 1 && C % groups == 0 && input.size() > 0, "{} groups do not divide {} channels", groups, C);
  for (const auto& [name, v] : {std::pair{"gain", &gains}, {"bias", &biases}})
    if (!(v->shape == Shape{C})) op.fail(fmt::format("the {} must be [{}], it is {}", name, C, v->shape.text()));
  const Tensor x = contiguous(input), gain = contiguous(gains), bias = contiguous(biases);
  const std::int64_t channels = C / groups, places = x.size() / (B * C), width = channels * places;
  const Real share = Real{1} / static_cast<Real>(width);
  const Tensor y = op.output(x.shape);
  Real* centre = op.tape().keep<Real>(B * groups); // mean and 1 / standard deviation of each group
  Real* precision = op.tape().keep<Real>(B * groups);
  // Calls f(channel, offset of its values) for each channel of a group.
  const auto each_channel = [=](std::int64_t g, auto&& f) {
    for (std::int64_t c = 0; c < channels; ++c) f(g % groups * channels + c, g * width + c * places);
  };
  for (std::int64_t g = 0, some = op.computed(B * groups); g < some; ++g) {
    const Real* p = x.data + g * width;
    const Real m = centre[g] = share * sum_over(width, [&](std::int64_t i, int n) { return load(p + i, n); });
    Real squares = 0;
    const std::int64_t whole = width / lanes * lanes;
    squares = sum_over(whole, [&](std::int64_t i, int n) {
      const Simd c = load(p + i, n) - m;
      return c * c;
    });
    for (std::int64_t i = whole; i < width; ++i) squares += (p[i] - m) * (p[i] - m);
    const Real s = precision[g] = Real{1} / std::sqrt(share * squares + epsilon);
    each_channel(g, [&](std::int64_t c, std::int64_t at) {
      const Real slope = s * gain.data[c], shift = bias.data[c];
      map(places,
          [&](std::int64_t i, int n) { store(y.data + at + i, (load(x.data + at + i, n) - m) * slope + shift, n); });
    });
  }
  // With h = (x - mean) s and w = gain dy: dx = s (w - mean(w) - h mean(w h)), dgain = sum dy h, dbias = sum dy.
  op.record(y, [=] {
    Tape& tape = *y.tape;
    const Real* dy = tape.grad(y);
    Real* along = tape.keep<Real>(B * C); // for each channel of each example: the sum of dy, and the sum of dy h
    Real* across = tape.keep<Real>(B * C);
    for (std::int64_t g = 0; g < B * groups; ++g)
      each_channel(g, [&](std::int64_t c, std::int64_t at) {
        const std::int64_t k = g / groups * C + c;
        along[k] = sum_over(places, [&](std::int64_t i, int n) { return load(dy + at + i, n); });
        across[k] = precision[g] * sum_over(places, [&](std::int64_t i, int n) {
                      return load(dy + at + i, n) * (load(x.data + at + i, n) - centre[g]);
                    });
      });
    if (const GradTarget d = tape.grad_target(x))
      for (std::int64_t g = 0; g < B * groups; ++g) {
        const Real m = centre[g], s = precision[g];
        Real mean_along = 0, mean_across = 0;
        each_channel(g, [&](std::int64_t c, std::int64_t) {
          mean_along += gain.data[c] * along[g / groups * C + c];
          mean_across += gain.data[c] * across[g / groups * C + c];
        });
        mean_along *= share;
        mean_across *= share;
        each_channel(g, [&](std::int64_t c, std::int64_t at) {
          map(places, [&](std::int64_t i, int n) {
            const Simd h = (load(x.data + at + i, n) - m) * s;
            accumulate(d.p + at + i, s * (gain.data[c] * load(dy + at + i, n) - mean_along - h * mean_across),
                       d.overwrite, n);
          });
        });
      }
    const auto sum_rows = [&](const Tensor& v, const Real* sums) {
      const GradTarget d = tape.grad_target(v);
      if (!d) return;
      for (std::int64_t c = 0; c < C; ++c) {
        Real total = 0;
        for (std::int64_t b = 0; b < B; ++b) total += sums[b * C + c];
        accumulate(d.p[c], total, d.overwrite);
      }
    };
    sum_rows(gain, across);
    sum_rows(bias, along);
  });
  return y;
}

} // namespace heed::HEED_REAL
