// Operations on images [B, C, H, W]: batch entries, channels, height, width. Gradients and statistics never cross batch
// entries, so a batch may be split into shards.
#pragma once

#include "autograd/ops.hpp"

namespace heed::HEED_REAL {

struct ConvolutionOptions {
  std::int64_t stride = 1;  ///< between neighbouring results, vertically and horizontally
  std::int64_t padding = 0; ///< rows and columns of zeros around the image
};

/// y_boij = bias_o + sum_cuv w_ocuv x_b,c,stride i + u - padding,stride j + v - padding, with zeros outside the image.
/// x [B, C, H, W], w [O, C, kh, kw], bias [O] (or none), y [B, O, (H + 2 padding - kh) / stride + 1, ...], as in
/// torch.nn.functional.conv2d. Each image's windows become the columns of a matrix, which is multiplied with w in one
/// product (im2col).
Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor* bias, const ConvolutionOptions& options = {});

/// (x - mean) / sqrt(variance + epsilon) gain_c + bias_c, with mean and biased variance over each batch entry's group
/// of consecutive channels (Wu and He 2018, arXiv 1803.08494). x [B, C, ...], gain and bias [C]; `groups` divides C.
Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& gain, const Tensor& bias,
                  Real epsilon = Real(1e-5));

} // namespace heed::HEED_REAL
