// Layer norm and RMS norm over each position's vector.
#pragma once

#include "layers/module.hpp"

#include <string_view>

namespace heed::HEED_REAL {

/// `layer`: (x - mean) / sqrt(variance + 1e-5) * gain (+ bias); `rms`: x / sqrt(mean(x^2) + 1e-5) * gain; both over the
/// last axis. The gain starts at one, the bias at zero. rms never has a bias, whatever `with_bias` says.
struct Norm {
  ParameterId gain, bias;
  bool rms, biased;

  /// kind: "layer" or "rms", the words of [block] norm_kind.
  Norm(const Scope& scope, std::string_view kind, std::int64_t width, bool with_bias)
      : gain(scope.plain("weight", {width}, Init::constant(1))), rms(kind == "rms"), biased(with_bias && !rms) {
    if (biased) bias = scope.plain("bias", {width}, Init::zeros());
  }

  Tensor operator()(Pass& pass, const Tensor& x) const {
    if (rms) return pass.show(gain, rms_norm(x, pass(gain)));
    if (!biased) return pass.show(gain, layer_norm(x, pass(gain), nullptr));
    const Tensor b = pass(bias);
    return pass.show(gain, layer_norm(x, pass(gain), &b));
  }
};

} // namespace heed::HEED_REAL
