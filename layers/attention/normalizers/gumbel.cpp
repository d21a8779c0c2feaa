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
      option("temperature", &Options::temperature, "what scores and noise are divided by, where a softmax is taken")
          .above(0),
      option("hard", &Options::hard,
             "is the weight 1 for the key that was drawn and 0 elsewhere, or the softmax of scores and noise?"));
  return t;
}

class Gumbel : public Normalizer {
public:
  explicit Gumbel(const Options& options) : options_(options) {}

  Tensor operator()(Pass& pass, const Tensor& scores, const Mask& mask) const override {
    Tensor s = scores;
    if (pass.training()) {
      const Pass::DropoutPlace place = pass.next_dropout(s.shape);
      s = add(s, gumbel_noise(pass.tape(), s.shape, place.key, place.numbers));
    }
    s = scale(s, static_cast<Real>(1 / options_.temperature));
    return options_.hard ? normalize_rows("gumbel", s, mask, hard_) : masked_softmax(s, mask);
  }

private:
  Options options_;
  HardmaxRows hard_;
};

// As in evaluation.
void row(const Real* scores, Real* weights, std::int64_t n, const OptionValues& values) {
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
              .summary = "in training, one key drawn with softmax's probabilities, by the largest of s_j + Gumbel "
                         "noise; in evaluation the best; gradients are those of softmax((s + noise) / temperature)",
              .paper = "Jang, Gu and Poole 2017, arXiv 1611.01144; Maddison, Mnih and Teh 2017, arXiv 1611.00712",
              .equals = "hard in evaluation; with hard = false and temperature = 1, softmax in evaluation",
              .cost = "two logarithms for each pair in training; runs in blocks of queries, twice in training",
              .options = table().options(),
              .presets = {}},
    .make = [](const Scope&, std::int64_t, const OptionValues& options) -> std::unique_ptr<Normalizer> {
      return std::make_unique<Gumbel>(table().read(options));
    },
    .row = row,
    .gradient_of = gradient_of};

} // namespace heed::HEED_REAL
