#include "layers/attention/score.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double temperature = 10.0;
  bool learned = false;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("temperature", &Options::temperature, "factor of the cosine, which is in [-1, 1]").above(0),
      option("learned", &Options::learned, "each head learns its own temperature, with this initial value"));
  return t;
}

class Cosine : public Score {
public:
  Cosine(const Scope& scope, const ScoreShape& shape, const Options& options) : temperature_(options.temperature) {
    if (options.learned) learned_ = scope.plain("temperature", {shape.heads, 1, 1}, Init::constant(temperature_));
  }

  ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const override {
    const Tensor q = l2_normalize(queries), k = l2_normalize(keys);
    if (learned_) return DotProductForm{mul(q, pass(*learned_)), k};
    return DotProductForm{q, k, static_cast<Real>(temperature_)};
  }

private:
  double temperature_;
  std::optional<ParameterId> learned_;
};

Real pair(const PairArguments& a) {
  Real product = 0, q = 0, k = 0;
  for (std::int64_t d = 0; d < a.shape.query_width; ++d) {
    product += a.query[d] * a.key[d];
    q += a.query[d] * a.query[d];
    k += a.key[d] * a.key[d];
  }
  const Real tiny = Real(1e-12); // a vector of zeros has cosine 0 with everything
  const Real cosine = product / (std::max(std::sqrt(q), tiny) * std::max(std::sqrt(k), tiny));
  return cosine *
         (a.parameters.empty() ? static_cast<Real>(table().read(*a.options).temperature) : a.parameters[0][a.head]);
}

} // namespace

extern const ScoreInfo score_cosine{
    .about = {.name = "cosine",
              .summary = "s(q, k) = t q . k / (|q| |k|), t the temperature",
              .paper = "Graves, Wayne and Danihelka 2014, arXiv 1410.5401 (content addressing); Liu et al. 2021, arXiv "
                       "2111.09883 (in a Transformer)",
              .equals = "dot for vectors of length 1 and temperature = 1",
              .cost = "no parameters (learned: one for each head); 2 d operations for each pair",
              .options = table().options(),
              .presets = {}},
    .equal_widths = true,
    .make = [](const Scope& scope, const ScoreShape& shape, const OptionValues& options) -> std::unique_ptr<Score> {
      return std::make_unique<Cosine>(scope, shape, table().read(options));
    },
    .pair = pair};

} // namespace heed::HEED_REAL
