// The affine map.
#pragma once

#include "layers/module.hpp"

namespace heed::HEED_REAL {

/// y = x W^T + b: x [..., in], W [out, in] (named `weight`), b [out] (named `bias`, zeros at first), y [..., out].
struct Linear {
  ParameterId weight, bias;
  bool biased;

  Linear(const Scope& scope, std::int64_t in, std::int64_t out, bool with_bias)
      : weight(scope.weight("weight", {out, in})), biased(with_bias) {
    if (biased) bias = scope.add("bias", {out}, Init::zeros());
  }

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
