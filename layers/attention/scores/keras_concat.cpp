#include "layers/attention/score.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  bool use_scale = false;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("use_scale", &Options::use_scale,
             "sums of query and key are multiplied with a learned factor for each head, initially 1"));
  return t;
}

class KerasConcat : public Score {
public:
  KerasConcat(const Scope& scope, const ScoreSizes& sizes, bool use_scale)
      : sizes_(sizes), weight_(scope.no_decay("concat_score_weight", {sizes.heads, 1}, Init::constant(1))) {
    if (use_scale) scale_ = scope.no_decay("scale", {sizes.heads, 1, 1}, Init::constant(1));
  }

  ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const override {
    const Tensor ones = pass.tape().make({sizes_.heads, sizes_.query_width});
    std::fill_n(ones.data, ones.size(), Real{1});
    const Tensor w = mul(ones, pass(weight_));
    if (!scale_) return AdditiveForm{queries, keys, w};
    return AdditiveForm{mul(queries, pass(*scale_)), mul(repeat_heads(keys, sizes_.heads), pass(*scale_)), w};
  }

private:
  ScoreSizes sizes_;
  ParameterId weight_;
  std::optional<ParameterId> scale_;
};

Real pair(const PairArguments& a) {
  const Real scale = a.parameters.size() > 1 ? a.parameters[1][a.head] : Real{1};
  Real s = 0;
  for (std::int64_t d = 0; d < a.sizes.query_width; ++d) s += std::tanh(scale * (a.query[d] + a.key[d]));
  return s * a.parameters[0][a.head];
}

} // namespace

extern const ScoreInfo score_keras_concat{
    .about = {.name = "keras_concat",
              .summary = "s(q, k) = c sum_d tanh(a (q_d + k_d)), with c and a learned for each head (a = 1 without "
                         "use_scale)",
              .paper = "keras.layers.Attention with score_mode = \"concat\"",
              .equals = "additive with Wq = Wk = a identity and v = c",
              .cost = "one parameter for each head (use_scale: two); about 3 d operations and d tanh for each pair",
              .options = table().options()},
    .equal_widths = true,
    .make = [](const Scope& scope, const ScoreSizes& sizes, const OptionValues& options) -> std::unique_ptr<Score> {
      return std::make_unique<KerasConcat>(scope, sizes, table().read(options).use_scale);
    },
    .pair = pair};

} // namespace heed::HEED_REAL
