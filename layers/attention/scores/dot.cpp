#include "layers/attention/score.hpp"

namespace heed::HEED_REAL {

namespace {

class Dot : public Score {
public:
  ScoreForm form(Pass&, const Tensor& queries, const Tensor& keys) const override {
    return DotProductForm{queries, keys};
  }
};

Real pair(const PairArguments& a) {
  Real s = 0;
  for (std::int64_t d = 0; d < a.sizes.query_width; ++d) s += a.query[d] * a.key[d];
  return s;
}

} // namespace

extern const ScoreInfo score_dot{
    .about = {.name = "dot",
              .summary = "s(q, k) = q . k",
              .paper = "Luong, Pham and Manning 2015, arXiv 1508.04025 (\"dot\")",
              .equals = "scaled_dot with scale = \"none\"; cosine for vectors of length 1 and temperature = 1",
              .cost = "no parameters; 2 d operations for each pair"},
    .equal_widths = true,
    .make = [](const Scope&, const ScoreSizes&, const OptionValues&) -> std::unique_ptr<Score> {
      return std::make_unique<Dot>();
    },
    .pair = pair};

} // namespace heed::HEED_REAL
