// A short convolution along the tokens, channel by channel, that sees no later token.
#pragma once

#include "autograd/mask.hpp"
#include "autograd/ops.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// What is before the first token.
struct ConvolutionStart {
  Tensor before{};        ///< [B, n - 1, C]: the inputs before x, without a gradient; no tape: zeros
  Segments segments{};    ///< inputs of another segment count as zeros
  std::int64_t first = 0; ///< the position of the first token
};

/// y_tc = bias_c + sum over s < n of w_cs x_(t - n + 1 + s),c, with zeros before the first token: x [B, T, C],
/// w [C, n], bias [C] (or none), y [B, T, C]. As torch.nn.Conv1d with groups = C and n - 1 zeros in front, on the
/// transpose of x.
Tensor causal_convolution(const Tensor& x, const Tensor& w, const Tensor* bias, const ConvolutionStart& start = {});

} // namespace heed::HEED_REAL
