#include "layers/attention/score.hpp"

#include <cmath>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  WordOrNumber scale{"sqrt", 0};
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("scale", &Options::scale,
             "factor of the product: sqrt (1 / sqrt(d), d the head width), none (1), a number, or learned (one value "
             "for each head, initially 1 / sqrt(d))")
          .one_of({"sqrt", "none", "learned"}));
  return t;
}

// The factor of the dot product; if learned, its initial value.
double factor(const WordOrNumber& scale, std::int64_t width) {
  if (scale.word.empty()) return scale.number;
  return scale.word == "none" ? 1.0 : 1.0 / std::sqrt(static_cast<double>(width));
}

class ScaledDot : public Score {
public:
  ScaledDot(const Scope& scope, const ScoreSizes& sizes, const WordOrNumber& scale)
      : factor_(factor(scale, sizes.query_width)) {
    if (scale.word == "learned") learned_ = scope.no_decay("scale", {sizes.heads, 1, 1}, Init::constant(factor_));
  }

  ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const override {
    if (learned_) return DotProductForm{mul(queries, pass(*learned_)), keys};
    return DotProductForm{queries, keys, static_cast<Real>(factor_)};
  }

private:
  double factor_;
  std::optional<ParameterId> learned_;
};

Real pair(const PairArguments& a) {
  Real s = 0;
  for (std::int64_t d = 0; d < a.sizes.query_width; ++d) s += a.query[d] * a.key[d];
  if (!a.parameters.empty()) return s * a.parameters[0][a.head];
  return s * static_cast<Real>(factor(table().read(*a.options).scale, a.sizes.query_width));
}

} // namespace

extern const ScoreInfo score_scaled_dot{
    .about = {.name = "scaled_dot",
              .summary = "s(q, k) = q . k / sqrt(d), d the head width",
              .paper = "Vaswani et al. 2017, arXiv 1706.03762",
              .equals = "dot with scale = \"none\"; multiplicative with W = identity / sqrt(d)",
              .cost = "no parameters (learned: one for each head); 2 d operations for each pair",
              .options = table().options()},
    .equal_widths = true,
    .make = [](const Scope& scope, const ScoreSizes& sizes, const OptionValues& options) -> std::unique_ptr<Score> {
      return std::make_unique<ScaledDot>(scope, sizes, table().read(options).scale);
    },
    .pair = pair};

} // namespace heed::HEED_REAL
