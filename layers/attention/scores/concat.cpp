#include "layers/attention/scores/hidden_layer.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

class Concat : public Score {
public:
  Concat(const Scope& scope, const ScoreSizes& sizes, std::int64_t hidden)
      : queries_(sizes.query_width), keys_(sizes.key_width),
        weight_(scope.weight("weight", {sizes.heads, queries_ + keys_, hidden}, hidden_layer::start(queries_ + keys_))),
        v_(scope.no_decay("v", {sizes.heads, hidden}, hidden_layer::start(hidden))) {}

  // W [q; k] = (first columns of W) q + (last columns of W) k.
  ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const override {
    const Tensor w = pass(weight_);
    return AdditiveForm{queries, keys, pass(v_), {slice(w, 1, 0, queries_), slice(w, 1, queries_, keys_)}};
  }

private:
  std::int64_t queries_, keys_;
  ParameterId weight_, v_;
};

Real pair(const PairArguments& a) {
  const std::int64_t hidden = hidden_layer::width(*a.options, a.sizes), in = a.sizes.query_width + a.sizes.key_width;
  const Real* w = a.parameters[0] + a.head * in * hidden;
  const Real* v = a.parameters[1] + a.head * hidden;
  Real s = 0;
  for (std::int64_t h = 0; h < hidden; ++h) {
    Real sum = 0;
    for (std::int64_t d = 0; d < in; ++d)
      sum += (d < a.sizes.query_width ? a.query[d] : a.key[d - a.sizes.query_width]) * w[d * hidden + h];
    s += v[h] * std::tanh(sum);
  }
  return s;
}

} // namespace

extern const ScoreInfo score_concat{
    .about = {.name = "concat",
              .summary = "s(q, k) = v . tanh(W [q; k]), with W and v for each head",
              .paper = "Luong, Pham and Manning 2015, arXiv 1508.04025 (\"concat\")",
              .equals = "additive with W = [Wq, Wk]; the two start differently",
              .cost = "(Dq + Dk + 1) hidden parameters for each head; about 3 hidden operations and hidden tanh for "
                      "each pair",
              .options = hidden_layer::table().options()},
    .equal_widths = false,
    .make = [](const Scope& scope, const ScoreSizes& sizes, const OptionValues& options) -> std::unique_ptr<Score> {
      return std::make_unique<Concat>(scope, sizes, hidden_layer::width(options, sizes));
    },
    .pair = pair};

} // namespace heed::HEED_REAL
