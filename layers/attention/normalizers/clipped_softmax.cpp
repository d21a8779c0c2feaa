#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double zeta = 1.0, gamma = -0.025;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("zeta", &Options::zeta, "upper end of the range to which softmax's weights are stretched").between(1, 100),
      option("gamma", &Options::gamma,
             "lower end of this range: weights below -gamma / (zeta - gamma) become exactly 0; the paper uses -alpha / "
             "T, with T the length of training's sequences and alpha about 3 (BERT) to 12 (OPT)")
          .between(-100, 0));
  return t;
}

class ClippedRows final : public RowRule {
public:
  explicit ClippedRows(const Options& options)
      : stretch_(static_cast<Real>(options.zeta - options.gamma)), low_(static_cast<Real>(options.gamma)) {}

  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real& log_sum) const override {
    const Real top = row_largest(s, keys.n);
    // A row with only scores of minus infinity has p = 0.
    const bool none = top == -std::numeric_limits<Real>::infinity() && !row_has_nan(s, keys.n);
    const Real sum = none ? Real{1} : row_exponentials(s, top, w, keys.n);
    log_sum = none ? std::numeric_limits<Real>::infinity() : top + std::log(sum);
    if (none) std::fill_n(w, keys.n, Real{0});
    clip(w, 1 / sum, keys.n);
  }

  // Clipped weights have no gradient.
  void backward(Real log_sum, const Real* s, const Real*, const Real* dw, Real* ds, RowKeys keys,
                Real* p) const override {
    row_exponentials(s, log_sum, p, keys.n);
    pull(p, dw, ds, keys.n);
  }
  void weights_and_backward(Real log_sum, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                            Real*) const override {
    row_exponentials(s, log_sum, w, keys.n);
    pull(w, dw, ds, keys.n);
    clip(w, 1, keys.n);
  }

private:
  // Numbers e to the weights of p = factor e.
  void clip(Real* e, Real factor, std::int64_t n) const {
    const Real stretch = stretch_, low = low_;
    for (std::int64_t j = 0; j < n; ++j) e[j] = std::min(std::max(stretch * (e[j] * factor) + low, Real{0}), Real{1});
  }
  void pull(const Real* p, const Real* dw, Real* ds, std::int64_t n) const {
    const Real stretch = stretch_, low = low_;
    for (std::int64_t j = 0; j < n; ++j) { // no operation depends on the comparison, so that compilers use vectors
      const Real w = stretch * p[j] + low, slope = std::min(std::max(w, Real{0}), Real{1}) == w ? stretch : Real{0};
      ds[j] = slope * dw[j];
    }
    const Real along = row_dot(p, ds, n);
    for (std::int64_t j = 0; j < n; ++j) ds[j] = p[j] * (ds[j] - along);
  }

  Real stretch_, low_;
};

void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues& values) {
  const Options options = table().read(values);
  double top = keys.n ? static_cast<double>(*std::max_element(scores, scores + keys.n)) : 0, total = 0;
  const auto power = [&](std::int64_t j) { return std::exp(static_cast<double>(scores[j]) - top); };
  for (std::int64_t j = 0; j < keys.n; ++j) total += power(j);
  for (std::int64_t j = 0; j < keys.n; ++j)
    weights[j] = static_cast<Real>(std::clamp((options.zeta - options.gamma) * power(j) / total + options.gamma, 0.0,
                                              1.0));
}

} // namespace

extern const NormalizerInfo normalizer_clipped_softmax{
    .about = {.name = "clipped_softmax",
              .summary =
                  "w_j = (zeta - gamma) p_j + gamma, clipped to [0, 1], with p = softmax(s): small weights become "
                  "exactly 0, so a head may attend to nothing",
              .paper = "Bondarenko, Nagel and Blankevoort 2023, arXiv 2306.12929",
              .equals = "softmax with zeta = 1 and gamma = 0",
              .cost = "one exponential for each pair, twice in training",
              .options = table().options()},
    .make = [](const Scope&, std::int64_t, const OptionValues& options) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<ClippedRows>>(table().read(options));
    },
    .row = row};

} // namespace heed::HEED_REAL
