#include "layers/attention/score.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double temperature = 10.0;
  bool learned = false;
  bool from_length = false;
  bool shared = false;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("temperature", &Options::temperature, "factor of the cosine, which is in [-1, 1]")
          .above(0)
          .initial_value_if("learned"),
      option("learned", &Options::learned, "each head learns its own temperature, with this initial value"),
      option(
          "from_length", &Options::from_length,
          "the temperature, or its initial value, is log2(L^2 - L), with L the longest sequence in training (QKNorm)")
          .initial_value_if("learned"),
      option("shared", &Options::shared, "all heads learn one temperature (QKNorm)").of_blocks());
  return t;
}

// Henry et al. 2020, section 4: the initial value, so that one key can get nearly all of the weight.
double first_temperature(const ScoreSizes& sizes, const Options& options) {
  if (!options.from_length) return options.temperature;
  const std::int64_t longest = sizes.trained > 0 ? sizes.trained : sizes.longest;
  if (longest == 0)
    throw Failed(
        "[attention] attention.cosine.from_length needs sequences of known length: set it to false, and choose "
        "attention.cosine.temperature");
  const auto length = static_cast<double>(std::max<std::int64_t>(longest, 2)); // a single key needs no temperature
  return std::log2(length * length - length);
}

class Cosine : public Score {
public:
  Cosine(const Scope& scope, const ScoreSizes& sizes, const Options& options)
      : temperature_(first_temperature(sizes, options)) {
    if (options.learned)
      learned_ = scope.no_decay("temperature", {options.shared ? 1 : sizes.heads, 1, 1}, Init::constant(temperature_));
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
  for (std::int64_t d = 0; d < a.sizes.query_width; ++d) {
    product += a.query[d] * a.key[d];
    q += a.query[d] * a.query[d];
    k += a.key[d] * a.key[d];
  }
  const Real tiny = Real(1e-12); // a vector of zeros has cosine 0 with everything
  const Real cosine = product / (std::max(std::sqrt(q), tiny) * std::max(std::sqrt(k), tiny));
  const Options options = table().read(*a.options);
  return cosine * (a.parameters.empty() ? static_cast<Real>(first_temperature(a.sizes, options))
                                        : a.parameters[0][options.shared ? 0 : a.head]);
}

} // namespace

extern const ScoreInfo score_cosine{
    .about = {.name = "cosine",
              .summary = "s(q, k) = t q . k / (|q| |k|), t the temperature",
              .paper = "Graves, Wayne and Danihelka 2014, arXiv 1410.5401 (content addressing); Liu et al. 2021, arXiv "
                       "2111.09883 (in a Transformer); Henry et al. 2020, arXiv 2010.04245 (QKNorm: from_length, "
                       "learned, shared)",
              .equals = "dot for vectors of length 1 and temperature = 1",
              .cost = "no parameters (learned: one for each head, or one); 2 d operations for each pair",
              .options = table().options(),
              .conditions = {{"attention.cosine.temperature", "attention.cosine.from_length", {"true"}, true},
                             {"attention.cosine.shared", "attention.cosine.learned", {"true"}}}},
    .equal_widths = true,
    .make = [](const Scope& scope, const ScoreSizes& sizes, const OptionValues& options) -> std::unique_ptr<Score> {
      return std::make_unique<Cosine>(scope, sizes, table().read(options));
    },
    .pair = pair};

} // namespace heed::HEED_REAL
