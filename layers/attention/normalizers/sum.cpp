#include "autograd/row_vectors.hpp"
#include "layers/attention/normalizer.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

// A row without a positive score gives zeros. The row's value is the sum.
class SumRows final : public RowRule {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real& total) const override {
    if (row_is_lost(s, w, keys.n)) return;
    total = sum_over(keys.n, [&](std::int64_t j, int m) { return max(load(s + j, m), Simd(Real{0})); });
    divide(s, total > 0 ? total : Real{1}, w, keys.n);
  }
  void backward(Real total, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real*) const override {
    const Real along = row_dot(w, dw, keys.n);
    const Simd zero(Real{0});
    map(keys.n, [&](std::int64_t j, int m) {
      store(ds + j, select(load(s + j, m) > zero, (load(dw + j, m) - along) / total, zero), m);
    });
  }
  void weights_and_backward(Real total, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                            Real* scratch) const override {
    if (!(total > 0)) return RowRule::weights_and_backward(total, s, w, dw, ds, keys, scratch);
    divide(s, total, w, keys.n);
    backward(total, s, w, dw, ds, keys, scratch);
  }

private:
  // max(s_j, 0) / divisor.
  static void divide(const Real* s, Real divisor, Real* w, std::int64_t n) {
    map(n, [&](std::int64_t j, int m) { store(w + j, max(load(s + j, m), Simd(Real{0})) / divisor, m); });
  }
};

class Sum final : public Normalizer {
public:
  const RowRule* row_rule() const override { return &rule_; }
  bool is_sum() const override { return true; }

private:
  SumRows rule_;
};

void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues&) {
  const std::int64_t n = keys.n;
  double total = 0;
  for (std::int64_t j = 0; j < n; ++j) total += std::max(static_cast<double>(scores[j]), 0.0);
  for (std::int64_t j = 0; j < n; ++j)
    weights[j] = scores[j] > 0 ? static_cast<Real>(static_cast<double>(scores[j]) / total) : Real{0};
}

} // namespace

extern const NormalizerInfo normalizer_sum{
    .about = {.name = "sum",
              .summary = "w_j = max(s_j, 0) / sum_k max(s_k, 0): scores divided by their sum; for scores that are "
                         "never negative",
              .paper = "Katharopoulos et al. 2020, arXiv 2006.16236 (equation 4)",
              .equals = "softmax where the scores are exponentials of softmax's",
              .cost = "two passes over each row, twice in training"},
    .make = [](const Scope&, std::int64_t, const OptionValues&) -> std::unique_ptr<Normalizer> {
      return std::make_unique<Sum>();
    },
    .row = row};

} // namespace heed::HEED_REAL
