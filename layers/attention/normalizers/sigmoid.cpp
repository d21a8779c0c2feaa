#include "layers/attention/normalizer.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  WordOrNumber bias{"keys", 0};
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("bias", &Options::bias,
             "added to every score: keys (-log n, with n the number of keys that the query may attend to), or a number")
          .one_of({"keys"}));
  return t;
}

std::optional<Real> bias_of(const OptionValues& options) {
  const WordOrNumber bias = table().read(options).bias;
  return bias.word.empty() ? std::optional(static_cast<Real>(bias.number)) : std::nullopt;
}

void row(const Real* scores, Real* weights, std::int64_t n, const OptionValues& options) {
  const Real bias = bias_of(options).value_or(-std::log(static_cast<Real>(n)));
  for (std::int64_t j = 0; j < n; ++j) weights[j] = 1 / (1 + std::exp(-scores[j] - bias));
}

} // namespace

extern const NormalizerInfo normalizer_sigmoid{
    .about = {.name = "sigmoid",
              .summary = "w_j = 1 / (1 + exp(-s_j - bias)): each key independently, so weights need not sum to 1",
              .paper = "Ramapuram et al. 2024, arXiv 2409.04431",
              .equals = "",
              .cost = "one exponential for each pair",
              .options = table().options(),
              .presets = {}},
    .make = [](const Scope&, std::int64_t, const OptionValues& options) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<SigmoidRows>>(bias_of(options));
    },
    .row = row};

} // namespace heed::HEED_REAL
