#include "autograd/row_vectors.hpp"
#include "layers/attention/learned_rows.hpp"

#include <cmath>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  WordOrNumber bias{"keys", 0};
  bool learned = false;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("bias", &Options::bias,
             "added to every score: keys (-log n, with n the number of keys that this query may attend to), or a "
             "number. The "
             "paper has one number for all queries, -log of the sequence's length: -4.852 for 128 keys")
          .one_of({"keys"}),
      option("learned", &Options::learned, "each head adds a learned number to the bias, which starts at 0"));
  return t;
}

// w_j = 1 / (1 + exp(-(s_j + bias + own))). Without a bias, it is -log n, where n is the number of keys that the row
// may attend to. The weights then start with a sum near 1. `own` is the head's learned bias.
class SigmoidRows final : public RowRule {
public:
  explicit SigmoidRows(std::optional<Real> bias, Real own = 0) : bias_(bias), own_(own) {}

  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real&) const override {
    const Real shift = bias_.value_or(-std::log(static_cast<Real>(keys.n))) + own_;
    map(keys.n, [&](std::int64_t j, int m) { store(w + j, logistic(load(s + j, m) + shift), m); });
  }
  void backward(Real, const Real*, const Real* w, const Real* dw, Real* ds, RowKeys keys, Real*) const override {
    map(keys.n, [&](std::int64_t j, int m) {
      const Simd v = load(w + j, m);
      store(ds + j, load(dw + j, m) * v * (Real{1} - v), m);
    });
  }
  // The derivative of sum_j dw_j w_j with respect to `own`.
  double derivative(const Real*, const Real*, const Real*, const Real* ds, RowKeys keys) const {
    return static_cast<double>(row_sum(ds, keys.n));
  }

private:
  std::optional<Real> bias_;
  Real own_;
};

std::optional<Real> bias_of(const OptionValues& options) {
  const WordOrNumber bias = table().read(options).bias;
  return bias.word.empty() ? std::optional(static_cast<Real>(bias.number)) : std::nullopt;
}

void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues& options) {
  const std::int64_t n = keys.n;
  const Real bias = bias_of(options).value_or(-std::log(static_cast<Real>(n)));
  for (std::int64_t j = 0; j < n; ++j) weights[j] = 1 / (1 + std::exp(-scores[j] - bias));
}

} // namespace

extern const NormalizerInfo normalizer_sigmoid{
    .about = {.name = "sigmoid",
              .summary = "w_j = 1 / (1 + exp(-s_j - bias)): each key independently, so weights need not sum to 1",
              .paper = "Ramapuram et al. 2024, arXiv 2409.04431",
              .cost = "no parameters, or one for each head (learned); one exponential for each pair",
              .options = table().options()},
    .make = [](const Scope& scope, std::int64_t heads, const OptionValues& options) -> std::unique_ptr<Normalizer> {
      const std::optional<Real> bias = bias_of(options);
      if (!table().read(options).learned) return std::make_unique<RowNormalizer<SigmoidRows>>(bias);
      return std::make_unique<LearnedNormalizer<SigmoidRows>>(scope, "bias", heads, 0,
                                                              [=](Real own) { return SigmoidRows(bias, own); });
    },
    .row = row};

} // namespace heed::HEED_REAL
