// Layers with one weight: linear (y = x W^T + b, optionally with an activation), the embedding of tokens, and for
// images 2-D convolution and group normalisation.
#pragma once

#include "autograd/images.hpp"
#include "layers/module.hpp"

namespace heed::HEED_REAL {

/// y = x W^T + b: x [..., in], W [out, in] (named `weight`), b [out] (named `bias`), y [..., out]. Both start by the
/// scope's rule for linear maps. `fans` differ from W's shape only if W stacks several matrices.
struct Linear {
  ParameterId weight, bias;
  bool biased;

  Linear(const Scope& scope, std::int64_t in, std::int64_t out, bool with_bias, WeightDecay decay = WeightDecay::yes)
      : Linear(scope, in, out, with_bias, {.in = in, .out = out}, decay) {}
  Linear(const Scope& scope, std::int64_t in, std::int64_t out, bool with_bias, const Fans& fans,
         WeightDecay decay = WeightDecay::yes)
      : weight(scope.weight("weight", {out, in}, fans, decay)), biased(with_bias) {
    if (biased) bias = scope.bias("bias", out, in);
  }
  /// All biases start by `bias_start`.
  Linear(const Scope& scope, std::int64_t in, std::int64_t out, const Init& bias_start)
      : weight(scope.weight("weight", {out, in})), bias(scope.no_decay("bias", {out}, bias_start)), biased(true) {}

  Tensor operator()(Pass& pass, const Tensor& x) const {
    return pass.show(weight, biased ? linear(x, pass(weight), pass(bias)) : linear(x, pass(weight)));
  }
  /// f(x W^T + b).
  Tensor operator()(Pass& pass, const Tensor& x, Activation f) const {
    if (!biased) return pass.show(weight, linear_activation(x, pass(weight), nullptr, f));
    const Tensor b = pass(bias);
    return pass.show(weight, linear_activation(x, pass(weight), &b, f));
  }
};

/// Returns row t of the table `weight`, [vocabulary, width], for token t.
struct Embedding {
  ParameterId weight;

  Embedding(const Scope& scope, std::int64_t vocabulary, std::int64_t width)
      : weight(scope.embedding("weight", {vocabulary, width})) {}

  /// `tokens` has the shape `shape`; the result is [shape..., width].
  Tensor operator()(Pass& pass, const std::int32_t* tokens, const Shape& shape) const {
    return pass.show(weight, embedding(pass(weight), tokens, shape));
  }
};

/// 2-D convolution with a square kernel (autograd/images.hpp): x [B, in, H, W] to [B, out, H', W'] with H' = (H + 2
/// padding - kernel) / stride + 1. `weight` is [out, in, kernel, kernel], `bias` [out]. Both start by the scope's rule
/// for linear maps, with fan-in in kernel^2 and fan-out out kernel^2 (as torch.nn.init counts them).
struct Convolution {
  struct Sizes {
    std::int64_t in = 1, out = 1, kernel = 3;
    ConvolutionOptions options{};
    bool bias = true;
  };

  ParameterId weight, bias;
  ConvolutionOptions options;
  bool biased;

  Convolution(const Scope& scope, const Sizes& sizes)
      : weight(scope.weight("weight", {sizes.out, sizes.in, sizes.kernel, sizes.kernel},
                            {.in = sizes.in * sizes.kernel * sizes.kernel,
                             .out = sizes.out * sizes.kernel * sizes.kernel})),
        options(sizes.options), biased(sizes.bias) {
    if (biased) bias = scope.bias("bias", sizes.out, sizes.in * sizes.kernel * sizes.kernel);
  }

  Tensor operator()(Pass& pass, const Tensor& x) const {
    if (!biased) return pass.show(weight, conv2d(x, pass(weight), nullptr, options));
    const Tensor b = pass(bias);
    return pass.show(weight, conv2d(x, pass(weight), &b, options));
  }
};

/// Group normalisation of channels (Wu and He 2018, arXiv 1803.08494): x [B, channels, ...]. `weight` starts at one,
/// `bias` at zero. It uses no batch statistics, because sequences would then affect each other.
struct GroupNorm {
  ParameterId gain, bias;
  std::int64_t groups;

  GroupNorm(const Scope& scope, std::int64_t group_count, std::int64_t channels)
      : gain(scope.no_decay("weight", {channels}, Init::constant(1))),
        bias(scope.no_decay("bias", {channels}, Init::zeros())), groups(group_count) {
    if (groups < 1 || channels % groups != 0)
      throw Failed(fmt::format("[group_norm] {} groups do not divide {} channels", groups, channels));
  }

  Tensor operator()(Pass& pass, const Tensor& x) const {
    return pass.show(gain, group_norm(x, groups, pass(gain), pass(bias)));
  }
};

} // namespace heed::HEED_REAL
