#include "layers/attention/scores/hidden_layer.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

class Additive : public Score {
public:
  Additive(const Scope& scope, const ScoreSizes& sizes, std::int64_t hidden)
      : query_(scope.weight("query", {sizes.heads, sizes.query_width, hidden}, hidden_layer::start(sizes.query_width))),
        key_(scope.weight("key", {sizes.heads, sizes.key_width, hidden}, hidden_layer::start(sizes.key_width))),
        v_(scope.no_decay("v", {sizes.heads, hidden}, hidden_layer::start(hidden))) {}

  ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const override {
    return AdditiveForm{queries, keys, pass(v_), {pass(query_), pass(key_)}};
  }

private:
  ParameterId query_, key_, v_;
};

Real pair(const PairArguments& a) {
  const std::int64_t hidden = hidden_layer::width(*a.options, a.sizes);
  const Real* wq = a.parameters[0] + a.head * a.sizes.query_width * hidden;
  const Real* wk = a.parameters[1] + a.head * a.sizes.key_width * hidden;
  const Real* v = a.parameters[2] + a.head * hidden;
  Real s = 0;
  for (std::int64_t h = 0; h < hidden; ++h) {
    Real sum = 0;
    for (std::int64_t d = 0; d < a.sizes.query_width; ++d) sum += a.query[d] * wq[d * hidden + h];
    for (std::int64_t d = 0; d < a.sizes.key_width; ++d) sum += a.key[d] * wk[d * hidden + h];
    s += v[h] * std::tanh(sum);
  }
  return s;
}

} // namespace

extern const ScoreInfo score_additive{
    .about = {.name = "additive",
              .summary = "s(q, k) = v . tanh(Wq q + Wk k), with Wq, Wk and v for each head",
              .paper = "Bahdanau, Cho and Bengio 2015, arXiv 1409.0473",
              .equals = "a constant with v = 0",
              .cost = "(Dq + Dk + 1) hidden parameters for each head; about 3 hidden operations and hidden tanh for "
                      "each pair",
              .options = hidden_layer::table().options()},
    .equal_widths = false,
    .make = [](const Scope& scope, const ScoreSizes& sizes, const OptionValues& options) -> std::unique_ptr<Score> {
      return std::make_unique<Additive>(scope, sizes, hidden_layer::width(options, sizes));
    },
    .pair = pair};

} // namespace heed::HEED_REAL
