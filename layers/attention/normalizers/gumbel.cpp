#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double temperature = 1.0;
  bool hard = true;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("temperature", &Options::temperature, "divisor of scores and noise in the softmax").above(0),
      option("hard", &Options::hard,
             "true: the weight is 1 for the drawn key and 0 elsewhere; false: the weights are the softmax of scores "
             "and noise"));
  return t;
}

// softmax(s / temperature), where s includes the noise. With `hard`: 1 for the best score, with the gradient of that
// softmax.
class GumbelRows final : public RowRule {
public:
  explicit GumbelRows(const Options& options)
      : inverse_(static_cast<Real>(1 / options.temperature)), hard_(options.hard) {}

  void weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real&) const override {
    if (hard_) row_one_hot(s, w, keys.n);
    else softmax(s, w, keys.n, scratch);
  }
  void backward(Real, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override {
    if (hard_) softmax(s, scratch, keys.n, scratch);
    const Real* p = hard_ ? scratch : w;
    const Real mean = row_dot(p, dw, keys.n);
    for (std::int64_t j = 0; j < keys.n; ++j) ds[j] = p[j] * (dw[j] - mean) * inverse_;
  }

private:
  // `scratch` may be w.
  void softmax(const Real* s, Real* w, std::int64_t n, Real* scratch) const {
    row_from_top(s, inverse_, scratch, n);
    const Real total = row_exponentials(scratch, 0, w, n);
    for (std::int64_t j = 0; j < n; ++j) w[j] /= total;
  }

  Real inverse_;
  bool hard_;
};

class Gumbel final : public Normalizer {
public:
  explicit Gumbel(const Options& options) : rule_(options) {}
  const RowRule* row_rule() const override { return &rule_; }
  bool has_noise() const override { return true; }

private:
  GumbelRows rule_;
};

// As in evaluation, without noise.
void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues& values) {
  const std::int64_t n = keys.n;
  if (n == 0) return;
  const Options options = table().read(values);
  const Real* best = std::max_element(scores, scores + n);
  Real total = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    weights[j] = options.hard ? Real(scores + j == best)
                              : std::exp((scores[j] - *best) / static_cast<Real>(options.temperature));
    total += weights[j];
  }
  for (std::int64_t j = 0; j < n; ++j) weights[j] /= total;
}

std::optional<NormalizerSetup> gradient_of(const OptionValues& values) {
  Options options = table().read(values);
  if (!options.hard) return std::nullopt;
  options.hard = false;
  return NormalizerSetup{"gumbel", table().write(options)};
}

} // namespace

extern const NormalizerInfo normalizer_gumbel{
    .about = {.name = "gumbel",
              .summary = "in training, one key is drawn with softmax's probabilities: the key with the largest s_j + "
                         "Gumbel noise; in evaluation, the key with the best score; gradients are those of softmax((s "
                         "+ noise) / temperature)",
              .paper = "Jang, Gu and Poole 2017, arXiv 1611.01144; Maddison, Mnih and Teh 2017, arXiv 1611.00712",
              .equals = "hard in evaluation; with hard = false and temperature = 1, softmax in evaluation",
              .cost = "a random number and two logarithms for each pair, twice in training",
              .options = table().options()},
    .make = [](const Scope&, std::int64_t, const OptionValues& options) -> std::unique_ptr<Normalizer> {
      return std::make_unique<Gumbel>(table().read(options));
    },
    .row = row,
    .gradient_of = gradient_of};

} // namespace heed::HEED_REAL
