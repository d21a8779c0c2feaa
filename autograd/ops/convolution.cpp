#include "autograd/images.hpp"
#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/simd.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

// The sliding windows of one image as a matrix (im2col). Row (c, u, v) holds, for each output position (i, j), the
// value of channel c that the kernel entry (u, v) is multiplied by.
struct Windows {
  std::int64_t channels, height, width, kernel_height, kernel_width, stride, padding, out_height, out_width;

  std::int64_t rows() const { return channels * kernel_height * kernel_width; }
  std::int64_t places() const { return out_height * out_width; }

  // The output positions [begin, end) along one axis for which the kernel entry u lies within the image.
  struct Range {
    std::int64_t begin, end;
  };
  Range inside(std::int64_t u, std::int64_t extent, std::int64_t out) const {
    const std::int64_t before = std::max<std::int64_t>(padding - u, 0);
    const std::int64_t begin = std::min(out, (before + stride - 1) / stride);
    const std::int64_t last = extent - 1 + padding - u; // stride times the last position is at most this
    return {begin, std::clamp(last < 0 ? 0 : last / stride + 1, begin, out)};
  }

  // Calls f(image, column, n) for each run of n output positions inside the image. The image values start at index
  // `image` and are `stride` apart. The matrix values start at index `column` and are contiguous. Calls outside(column,
  // n) for runs outside of the image (padding).
  template <class Inside, class Outside> void each_run(Inside f, Outside outside) const {
    std::int64_t at = 0;
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t u = 0; u < kernel_height; ++u)
        for (std::int64_t v = 0; v < kernel_width; ++v) {
          const Range down = inside(u, height, out_height), across = inside(v, width, out_width);
          outside(at, down.begin * out_width);
          for (std::int64_t i = down.begin; i < down.end; ++i) {
            const std::int64_t row = at + i * out_width;
            outside(row, across.begin);
            f((c * height + i * stride + u - padding) * width + across.begin * stride + v - padding, row + across.begin,
              across.end - across.begin);
            outside(row + across.end, out_width - across.end);
          }
          outside(at + down.end * out_width, (out_height - down.end) * out_width);
          at += places();
        }
  }

  void unfold(const Real* image, Real* matrix) const {
    each_run(
        [&](std::int64_t from, std::int64_t to, std::int64_t n) {
          if (stride == 1) std::copy_n(image + from, n, matrix + to);
          else
            for (std::int64_t j = 0; j < n; ++j) matrix[to + j] = image[from + j * stride];
        },
        [&](std::int64_t to, std::int64_t n) { std::fill_n(matrix + to, n, Real{0}); });
  }
  // The transpose of unfold (col2im): adds each value of the matrix to the image value that it was copied from.
  void fold(const Real* matrix, Real* image) const {
    each_run(
        [&](std::int64_t to, std::int64_t from, std::int64_t n) {
          if (stride == 1)
            map(n, [&](std::int64_t j, int m) { accumulate(image + to + j, load(matrix + from + j, m), false, m); });
          else
            for (std::int64_t j = 0; j < n; ++j) image[to + j * stride] += matrix[from + j];
        },
        [](std::int64_t, std::int64_t) {});
  }
};

} // namespace

Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor* bias, const ConvolutionOptions& options) {
  const Op op("conv2d", {&input, &weight, bias ? bias : &weight}, Counts::yes);
  op.check(input.rank() == 4 && weight.rank() == 4,
           "x must be [B, C, H, W] and w [O, C, kh, kw], they have {} and {} axes", input.rank(), weight.rank());
  if (input.shape[1] != weight.shape[1])
    op.fail(fmt::format("x and w must share the channels: x is {}, w is {}", input.shape.text(), weight.shape.text()));
  op.check(options.stride >= 1 && options.padding >= 0,
           "the stride must be 1 or more and the padding 0 or more, they are {} and {}", options.stride,
           options.padding);
  const std::int64_t B = input.shape[0], O = weight.shape[0];
  Windows win{input.shape[1],
              input.shape[2],
              input.shape[3],
              weight.shape[2],
              weight.shape[3],
              options.stride,
              options.padding,
              0,
              0};
  const std::int64_t room_down = win.height + 2 * win.padding - win.kernel_height;
  const std::int64_t room_across = win.width + 2 * win.padding - win.kernel_width;
  if (room_down < 0 || room_across < 0 || win.kernel_height < 1 || win.kernel_width < 1)
    op.fail(fmt::format("the kernel must fit into the padded image: x is {}, w is {}, the padding {}",
                        input.shape.text(), weight.shape.text(), win.padding));
  win.out_height = room_down / win.stride + 1;
  win.out_width = room_across / win.stride + 1;
  if (bias && !(bias->shape == Shape{O}))
    op.fail(fmt::format("the bias must be [{}], it is {}", O, bias->shape.text()));
  const Tensor x = contiguous(input), w = contiguous(weight);
  const bool biased = bias != nullptr;
  const Tensor b = biased ? contiguous(*bias) : w;
  const Tensor y = op.output({B, O, win.out_height, win.out_width});
  const std::int64_t image = win.channels * win.height * win.width, places = win.places(), result = O * places;
  const Matrix kernel = row_major(w.data, O, win.rows());
  Real* unfolded = op.tape().keep<Real>(win.rows() * places);
  for (std::int64_t n = 0; n < B; ++n) {
    Real* out = y.data + n * result;
    win.unfold(x.data + n * image, unfolded);
    if (biased)
      for (std::int64_t o = 0; o < O; ++o) std::fill_n(out + o * places, places, b.data[o]);
    gemm(kernel, row_major(unfolded, win.rows(), places), row_major(out, O, places), 1, biased ? 1 : 0);
  }
  op.record(y, [=] {
    Tape& tape = *y.tape;
    const Real* dy = tape.grad(y);
    const auto gradient = [&](std::int64_t n) { return row_major(dy + n * result, O, places); };
    if (Real* const dx = tape.grad_accumulator(x))
      for (std::int64_t n = 0; n < B; ++n) {
        gemm(kernel.transposed(), gradient(n), row_major(unfolded, win.rows(), places));
        win.fold(unfolded, dx + n * image);
      }
    if (const GradTarget d = tape.grad_target(w))
      for (std::int64_t n = 0; n < B; ++n) {
        win.unfold(x.data + n * image, unfolded);
        gemm(gradient(n), row_major(unfolded, win.rows(), places).transposed(), row_major(d.p, O, win.rows()), 1,
             d.overwrite && n == 0 ? 0 : 1);
      }
    if (!biased) return;
    if (const GradTarget d = tape.grad_target(b))
      for (std::int64_t o = 0; o < O; ++o) {
        Real total = 0;
        for (std::int64_t n = 0; n < B; ++n) {
          const Real* p = dy + n * result + o * places;
          total += sum_over(places, [&](std::int64_t i, int m) { return load(p + i, m); });
        }
        accumulate(d.p[o], total, d.overwrite);
      }
  });
  return y;
}

} // namespace heed::HEED_REAL
