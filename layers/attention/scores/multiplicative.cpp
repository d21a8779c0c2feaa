#include "layers/attention/score.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

class Multiplicative : public Score {
public:
  // W starts uniformly within 1 / sqrt(Dq), so that the scores of an untrained model do not grow with the width.
  Multiplicative(const Scope& scope, const ScoreShape& shape)
      : weight_(scope.weight("weight", {shape.heads, shape.query_width, shape.key_width},
                             Init::uniform(1.0 / std::sqrt(static_cast<double>(shape.query_width))))) {}

  ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const override {
    return InnerForm{matmul(queries, pass(weight_)), keys};
  }

private:
  ParameterId weight_;
};

Real pair(const PairArguments& a) {
  const Real* w = a.parameters[0] + a.head * a.shape.query_width * a.shape.key_width;
  Real s = 0;
  for (std::int64_t i = 0; i < a.shape.query_width; ++i)
    for (std::int64_t j = 0; j < a.shape.key_width; ++j) s += a.query[i] * w[i * a.shape.key_width + j] * a.key[j];
  return s;
}

} // namespace

extern const ScoreInfo score_multiplicative{
    .about = {.name = "multiplicative",
              .summary = "s(q, k) = q W k, a matrix W for each head, not scaled",
              .paper = "Luong, Pham and Manning 2015, arXiv 1508.04025 (\"general\")",
              .equals = "dot with W = identity",
              .cost = "Dq Dk parameters for each head; 2 Dq Dk operations for each query and 2 Dk for each pair",
              .options = {},
              .presets = {}},
    .equal_widths = false,
    .make = [](const Scope& scope, const ScoreShape& shape, const OptionValues&) -> std::unique_ptr<Score> {
      return std::make_unique<Multiplicative>(scope, shape);
    },
    .pair = pair};

} // namespace heed::HEED_REAL
