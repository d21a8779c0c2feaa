#include "autograd/row_vectors.hpp"
#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

namespace {

// With d_j = exp(s_j - m) - exp(-m): w_j = max(d_j, 0) / sum_k |d_k|. m is 0, or the largest score where exp(s_j) could
// overflow. The row's value is the sum, or -1 where m is not 0.
class SoftpickRows final : public RowRule {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real& total) const override {
    const Real top = row_largest(s, keys.n), shift = top < most ? Real{0} : top;
    total = differences(s, shift, w, keys.n);
    divide(w, total, keys.n);
    if (shift != 0) total = -1;
  }

  // ds_j = exp(s_j - m) / sum_k |d_k| (step(s_j) dw_j - sign(s_j) sum_k dw_k w_k), with step(0) = 0 and sign(0) = 1
  // (equation 7). If no score is above 0, all weights are 0, and so is the gradient.
  void backward(Real total, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real*) const override {
    const Real shift = total >= 0 ? Real{0} : row_largest(s, keys.n);
    if (!(total >= 0)) total = differences(s, shift, ds, keys.n);
    row_exponentials(s, shift, ds, keys.n);
    pull(total, s, w, dw, ds, keys.n);
  }
  void weights_and_backward(Real total, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                            Real* scratch) const override {
    if (!(total >= 0)) return RowRule::weights_and_backward(total, s, w, dw, ds, keys, scratch);
    map(keys.n, [&](std::int64_t j, int m) {
      const auto [less_one, exponentials] = exponential_with_less_one(load(s + j, m));
      store(w + j, less_one, m);
      store(ds + j, exponentials, m);
    });
    divide(w, total, keys.n);
    pull(total, s, w, dw, ds, keys.n);
  }

private:
  static constexpr Real most = 60;

  // d_j = exp(s_j - shift) - exp(-shift), without loss of digits where s_j is near 0. Returns the sum of |d_j|.
  static Real differences(const Real* s, Real shift, Real* d, std::int64_t n) {
    const Real base = std::exp(-shift);
    return sum_over(n, [&](std::int64_t j, int m) {
      const Simd here = exponential_less_one(load(s + j, m), shift, base);
      store(d + j, here, m);
      return abs(here); // 0 beyond the row's end, where s is 0
    });
  }
  // ds holds the exponentials.
  static void pull(Real total, const Real* s, const Real* w, const Real* dw, Real* ds, std::int64_t n) {
    const Real along = row_dot(w, dw, n), inverse = total >= std::numeric_limits<Real>::min() ? 1 / total : Real{0};
    for (std::int64_t j = 0; j < n; ++j)
      ds[j] *= inverse * ((s[j] > 0 ? dw[j] : Real{0}) - (s[j] >= 0 ? along : -along));
  }
  // A product with 1 / total would not give a single key the weight 1.
  static void divide(Real* d, Real total, std::int64_t n) {
    if (total == 0) {
      std::fill_n(d, n, Real{0});
      return;
    }
    for (std::int64_t j = 0; j < n; ++j) d[j] = std::max(d[j], Real{0}) / total;
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
              .cost = "one exponential for each pair, twice in training"},
    .make = [](const Scope&, std::int64_t, const OptionValues&) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<SoftpickRows>>();
    },
    .row = row};

} // namespace heed::HEED_REAL
