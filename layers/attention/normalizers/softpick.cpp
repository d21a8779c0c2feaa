#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

// With m = max(0, max_k s_k) and d_j = exp(s_j - m) - exp(-m): w_j = max(d_j, 0) / sum_k |d_k|.
class SoftpickRows final : public RowPolicy {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real*) const override {
    const Real total = row_exponentials_less_one(s, std::max(row_largest(s, keys.n), Real{0}), w, keys.n);
    const Real inverse = total == 0 ? Real{0} : 1 / total;
    if (std::isnan(inverse)) {
      std::fill_n(w, keys.n, inverse);
      return;
    }
    for (std::int64_t j = 0; j < keys.n; ++j) w[j] = std::max(w[j], Real{0}) * inverse;
  }

  // ds_j = exp(s_j - m) / sum_k |d_k| (step(s_j) dw_j - sign(s_j) sum_k dw_k w_k), with step(0) = 0 and sign(0) = 1
  // (equation 7). The best key gives the sum: its d is 1 - exp(-m). If no score is above 0, all weights are 0, and so
  // is the gradient.
  void backward(const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys, Real*) const override {
    const Real top = std::max(row_largest(s, keys.n), Real{0}), most = row_largest(w, keys.n);
    if (!(most > 0)) {
      std::fill_n(ds, keys.n, Real{0});
      return;
    }
    const Real along = row_dot(w, dw, keys.n), inverse = most / -std::expm1(-top);
    row_exponentials(s, top, ds, keys.n);
    for (std::int64_t j = 0; j < keys.n; ++j)
      ds[j] *= inverse * ((s[j] > 0 ? dw[j] : Real{0}) - (s[j] >= 0 ? along : -along));
  }
};

void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues&) {
  double top = 0, total = 0;
  for (std::int64_t j = 0; j < keys.n; ++j) top = std::max(top, static_cast<double>(scores[j]));
  const auto difference = [&](std::int64_t j) { // exp(s - top) - exp(-top)
    const auto s = static_cast<double>(scores[j]);
    return s > 1 ? std::exp(s - top) - std::exp(-top) : std::exp(-top) * std::expm1(s);
  };
  for (std::int64_t j = 0; j < keys.n; ++j) total += std::abs(difference(j));
  for (std::int64_t j = 0; j < keys.n; ++j)
    weights[j] = total > 0 ? static_cast<Real>(std::max(difference(j), 0.0) / total) : Real{0};
}

} // namespace

extern const NormalizerInfo normalizer_softpick{
    .about = {.name = "softpick",
              .summary =
                  "w_j = max(exp(s_j) - 1, 0) / sum_k |exp(s_k) - 1|: keys with scores below 0 get no weight, and "
                  "the weights need not sum to 1, so a head may attend to nothing",
              .paper = "Zuhri, Fuadi and Aji 2025, arXiv 2504.20966",
              .equals = "",
              .cost = "one exponential for each pair, twice in training",
              .options = {},
              .presets = {}},
    .make = [](const Scope&, std::int64_t, const OptionValues&) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<SoftpickRows>>();
    },
    .row = row};

} // namespace heed::HEED_REAL
