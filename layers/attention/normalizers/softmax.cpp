#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

class Softmax : public Normalizer {
public:
  Tensor operator()(Pass&, const Tensor& scores, const Mask& mask) const override {
    return masked_softmax(scores, mask);
  }
  bool is_softmax() const override { return true; }
};

void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues&) {
  const std::int64_t n = keys.n;
  const Real top = n ? *std::max_element(scores, scores + n) : Real{0};
  Real total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += weights[i] = std::exp(scores[i] - top);
  for (std::int64_t i = 0; i < n; ++i) weights[i] /= total;
}

} // namespace

extern const NormalizerInfo normalizer_softmax{
    .about = {.name = "softmax",
              .summary = "w_j = exp(s_j) / sum_k exp(s_k)",
              .paper = "Bridle 1990; as attention weights: Bahdanau, Cho and Bengio 2015, arXiv 1409.0473",
              .cost = "one exponential for each pair"},
    .make = [](const Scope&, std::int64_t, const OptionValues&) -> std::unique_ptr<Normalizer> {
      return std::make_unique<Softmax>();
    },
    .row = row};

} // namespace heed::HEED_REAL
