#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

class SoftmaxOneRows final : public RowRule {
public:
  // The row's value is the largest of the scores and 0.
  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real& top) const override {
    top = std::max(row_largest(s, keys.n), Real{0});
    weights_from(top, s, w, keys.n);
  }
  // As softmax's: the extra score 0 is constant and has no term here.
  void backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override {
    SoftmaxRule().backward(value, s, w, dw, ds, keys, scratch);
  }
  void weights_and_backward(Real top, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                            Real* scratch) const override {
    weights_from(top, s, w, keys.n);
    backward(top, s, w, dw, ds, keys, scratch);
  }

private:
  static void weights_from(Real top, const Real* s, Real* w, std::int64_t n) {
    const Real total = row_exponentials(s, top, w, n) + std::exp(-top);
    for (std::int64_t j = 0; j < n; ++j) w[j] /= total;
  }
};

void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues&) {
  const std::int64_t n = keys.n;
  Real top = 0;
  for (std::int64_t j = 0; j < n; ++j) top = std::max(top, scores[j]);
  Real total = std::exp(-top);
  for (std::int64_t j = 0; j < n; ++j) total += weights[j] = std::exp(scores[j] - top);
  for (std::int64_t j = 0; j < n; ++j) weights[j] /= total;
}

} // namespace

extern const NormalizerInfo normalizer_softmax_one{
    .about = {.name = "softmax_one",
              .summary = "w_j = exp(s_j) / (1 + sum_k exp(s_k)): the softmax with an additional score 0, whose weight "
                         "goes to no key, so a head may attend to nothing",
              .paper = "Miller 2023, Attention is off by one; as add_zero_attn: PyTorch's MultiheadAttention",
              .equals = "softmax with an additional key, whose score and value are 0",
              .cost = "one exponential for each pair"},
    .make = [](const Scope&, std::int64_t, const OptionValues&) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<SoftmaxOneRows>>();
    },
    .row = row};

} // namespace heed::HEED_REAL
