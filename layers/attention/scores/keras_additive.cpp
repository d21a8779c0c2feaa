#include "layers/attention/score.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  bool use_scale = true;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(option("use_scale", &Options::use_scale,
                                                     "each tanh has a learned weight; if false, the weight 1"));
  return t;
}

class KerasAdditive : public Score {
public:
  KerasAdditive(const Scope& scope, const ScoreSizes& sizes, bool use_scale) : sizes_(sizes) {
    if (use_scale) // the range of Keras's glorot_uniform
      scale_ = scope.no_decay("scale", {sizes.heads, sizes.query_width},
                              Init::uniform(std::sqrt(3.0 / static_cast<double>(sizes.query_width))));
  }

  ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const override {
    if (scale_) return AdditiveForm{queries, keys, pass(*scale_)};
    const Tensor ones = pass.tape().make({sizes_.heads, sizes_.query_width});
    std::fill_n(ones.data, ones.size(), Real{1});
    return AdditiveForm{queries, keys, ones};
  }

private:
  ScoreSizes sizes_;
  std::optional<ParameterId> scale_;
};

Real pair(const PairArguments& a) {
  Real s = 0;
  for (std::int64_t d = 0; d < a.sizes.query_width; ++d)
    s += std::tanh(a.query[d] + a.key[d]) *
         (a.parameters.empty() ? 1 : a.parameters[0][a.head * a.sizes.query_width + d]);
  return s;
}

} // namespace

extern const ScoreInfo score_keras_additive{
    .about = {.name = "keras_additive",
              .summary = "s(q, k) = sum_d v_d tanh(q_d + k_d), with v learned for each head (1 without use_scale)",
              .paper = "keras.layers.AdditiveAttention; Bahdanau, Cho and Bengio 2015, arXiv 1409.0473, without its "
                       "projections",
              .equals = "additive with Wq = Wk = identity; without use_scale, keras_concat with c = 1",
              .cost = "d parameters for each head (none without use_scale); about 3 d operations and d tanh "
                      "for each pair",
              .options = table().options()},
    .equal_widths = true,
    .make = [](const Scope& scope, const ScoreSizes& sizes, const OptionValues& options) -> std::unique_ptr<Score> {
      return std::make_unique<KerasAdditive>(scope, sizes, table().read(options).use_scale);
    },
    .pair = pair};

} // namespace heed::HEED_REAL
