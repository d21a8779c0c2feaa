#include "autograd/row_vectors.hpp"
#include "layers/attention/normalizer.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

// The gradient is by definition that of the softmax at the same scores: the straight-through estimator.
class HardRows final : public RowRule {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real&) const override { row_one_hot(s, w, keys.n); }
  void backward(Real, const Real* s, const Real*, const Real* dw, Real* ds, RowKeys keys, Real* p) const override {
    const Real top = row_largest(s, keys.n);
    map(keys.n, [&](std::int64_t j, int m) { store(p + j, exponential(load(s + j, m) - top), m); });
    const Real total = row_sum(p, keys.n), mean = row_dot(p, dw, keys.n) / total;
    map(keys.n, [&](std::int64_t j, int m) { store(ds + j, load(p + j, m) * (load(dw + j, m) - mean) / total, m); });
  }
};

void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues&) {
  const std::int64_t n = keys.n;
  std::fill_n(weights, n, Real{0});
  if (n > 0) weights[std::max_element(scores, scores + n) - scores] = 1;
}

} // namespace

extern const NormalizerInfo normalizer_hard{
    .about = {.name = "hard",
              .summary = "w_j = 1 for the best score, 0 elsewhere; gradients are softmax's (straight-through)",
              .paper = "Xu et al. 2015, arXiv 1502.03044 (hard attention); Bengio, Leonard and Courville 2013, arXiv "
                       "1308.3432 (the gradient)",
              .equals = "the limit of softmax for scores that grow without bound; gumbel without noise",
              .cost = "one pass over each row, one exponential for each pair backward"},
    .make = [](const Scope&, std::int64_t, const OptionValues&) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<HardRows>>();
    },
    .row = row,
    .gradient_of =
        [](const OptionValues&) {
          return std::optional<NormalizerSetup>({"softmax", {}});
        }};

} // namespace heed::HEED_REAL
