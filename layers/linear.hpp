// The linear layer y = x W^T + b, optionally with an activation.
#pragma once

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

} // namespace heed::HEED_REAL
