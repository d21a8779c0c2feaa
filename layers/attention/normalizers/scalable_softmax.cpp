#include "autograd/row_vectors.hpp"
#include "layers/attention/learned_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double scale = 0.43;
  bool learned = true;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(option("scale", &Options::scale,
                                                     "c, the factor of log n; if learned, its initial value")
                                                  .between(-100, 100)
                                                  .initial_value_if("learned"),
                                              option("learned", &Options::learned, "each head learns its own c"));
  return t;
}

// softmax(c log(n) s). The row's value is the largest exponent, or NaN for a row that is not computed in one pass.
class ScalableRows final : public RowRule {
public:
  explicit ScalableRows(Real scale) : scale_(scale) {}

  void weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& top) const override {
    const Real factor = scale_ * log_of(keys.n);
    top = factor * row_largest(s, keys.n);
    if (factor > 0 && std::abs(top) < largest_fused) {
      const Real inverse = 1 / exponentials(s, factor, top, w, keys.n);
      for (std::int64_t j = 0; j < keys.n; ++j) w[j] *= inverse;
      return;
    }
    // A score of -infinity stays what it is, whatever the factor. The rounding error of a very large `top` would be the
    // exponent of the best key.
    for (std::int64_t j = 0; j < keys.n; ++j)
      w[j] = s[j] == -std::numeric_limits<Real>::infinity() ? s[j] : factor * s[j];
    SoftmaxRule().weights(w, w, keys, scratch, top);
    top = std::numeric_limits<Real>::quiet_NaN();
  }
  void backward(Real, const Real*, const Real* w, const Real* dw, Real* ds, RowKeys keys, Real*) const override {
    const Real along = row_dot(w, dw, keys.n), factor = scale_ * log_of(keys.n);
    pull(factor, along, w, dw, ds, keys.n);
  }
  void weights_and_backward(Real top, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                            Real* scratch) const override {
    if (std::isnan(top)) return RowRule::weights_and_backward(top, s, w, dw, ds, keys, scratch);
    const Real factor = scale_ * log_of(keys.n), inverse = 1 / exponentials(s, factor, top, w, keys.n);
    pull(factor, row_scale_and_dot(inverse, w, dw, keys.n), w, dw, ds, keys.n);
  }
  double derivative(const Real* s, const Real* w, const Real* dw, const Real* ds, RowKeys keys) const {
    if (const Real sum = row_dot(s, ds, keys.n) / scale_; std::isfinite(sum)) return static_cast<double>(sum);
    // A scale of 0, or a score of -infinity, whose weight is 0.
    const Real along = row_dot(w, dw, keys.n);
    double sum = 0;
    for (std::int64_t j = 0; j < keys.n; ++j)
      if (w[j] != 0) sum += static_cast<double>(s[j] * w[j] * (dw[j] - along));
    return sum * static_cast<double>(log_of(keys.n));
  }

private:
  static constexpr Real largest_fused = Real(1e6);

  // w_j = exp(factor s_j - shift); returns their sum.
  static Real exponentials(const Real* s, Real factor, Real shift, Real* w, std::int64_t n) {
    return store_and_sum(w, n, [&](std::int64_t j, int m) {
      return exponential(fms(load(s + j, m), Simd(factor), Simd(shift)));
    });
  }
  static void pull(Real factor, Real along, const Real* w, const Real* dw, Real* ds, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) ds[j] = factor * w[j] * (dw[j] - along);
  }
  static Real log_of(std::int64_t n) { return std::log(static_cast<Real>(n)); }

  Real scale_;
};

void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues& options) {
  const double factor = table().read(options).scale * std::log(static_cast<double>(keys.n));
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::int64_t j = 0; j < keys.n; ++j) top = std::max(top, factor * static_cast<double>(scores[j]));
  const auto power = [&](std::int64_t j) { return std::exp(factor * static_cast<double>(scores[j]) - top); };
  for (std::int64_t j = 0; j < keys.n; ++j) total += power(j);
  for (std::int64_t j = 0; j < keys.n; ++j) weights[j] = static_cast<Real>(power(j) / total);
}

} // namespace

extern const NormalizerInfo normalizer_scalable_softmax{
    .about =
        {.name = "scalable_softmax",
         .summary = "w = softmax(c log(n) s), with n the number of keys that the query may attend to: weights stay "
                    "as sharp in longer sequences",
         .paper = "Nakanishi 2025, arXiv 2501.19399; without the learned c: Chiang and Cholak 2022, arXiv 2202.12172",
         .cost = "one parameter for each head (learned) or none; one exponential for each pair",
         .options = table().options()},
    .make = [](const Scope& scope, std::int64_t heads, const OptionValues& values) -> std::unique_ptr<Normalizer> {
      const Options options = table().read(values);
      if (!options.learned) return std::make_unique<RowNormalizer<ScalableRows>>(static_cast<Real>(options.scale));
      return std::make_unique<LearnedNormalizer<ScalableRows>>(scope, "scale", heads, options.scale,
                                                               [](Real scale) { return ScalableRows(scale); });
    },
    .row = row};

} // namespace heed::HEED_REAL
