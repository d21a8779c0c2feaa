#include "autograd/row_vectors.hpp"
#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace heed::HEED_REAL {

namespace {

class SparsemaxRows final : public RowRule {
public:
  // Newton's method for the threshold t. It starts at 1 below the largest score, where only the largest score has a
  // weight (of 1). Each next threshold makes the weights of the scores above the last threshold sum to 1. The threshold
  // rises and fewer scores remain at each step, until it no longer changes.
  void weights(const Real* s, Real* w, RowKeys keys, Real* x, Real&) const override {
    if (row_is_lost(s, w, keys.n)) return;
    const Simd zero(Real{0}), one(Real{1});
    row_from_top(s, Real{1}, x, keys.n);
    Real threshold = -1;
    for (;;) {
      const auto [sum, count] = sums_over(whole_vectors(keys.n), [&](std::int64_t j, int, Simd& total, Simd& counted) {
        const Simd xs = load(x + j);
        const auto above = xs > Simd(threshold);
        total += select(above, xs, zero);
        counted += select(above, one, zero);
      });
      const Real next = (sum - 1) / count;
      if (!(next > threshold)) break;
      threshold = next;
    }
    map(keys.n, [&](std::int64_t j, int m) { store(w + j, max(load(x + j, m) - threshold, zero), m); });
  }

  // ds_j = dw_j - mean of dw over the weights that are not 0, and 0 where the weight is 0.
  void backward(Real, const Real*, const Real* w, const Real* dw, Real* ds, RowKeys keys, Real*) const override {
    const Simd zero(Real{0}), one(Real{1});
    const auto [sum, count] = sums_over(keys.n, [&](std::int64_t j, int m, Simd& total, Simd& counted) {
      const auto has_weight = load(w + j, m) != zero;
      total += select(has_weight, load(dw + j, m), zero);
      counted += select(has_weight, one, zero);
    });
    const Real mean = sum / count;
    map(keys.n,
        [&](std::int64_t j, int m) { store(ds + j, select(load(w + j, m) != zero, load(dw + j, m) - mean, zero), m); });
  }
};

// The paper's algorithm 1, by sorting.
void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues&) {
  const std::int64_t n = keys.n;
  std::vector<Real> sorted(scores, scores + n);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  Real sum = 0, threshold = 0;
  for (std::int64_t k = 1; k <= n; ++k) {
    const Real z = sorted[static_cast<std::size_t>(k - 1)];
    sum += z;
    if (1 + static_cast<Real>(k) * z > sum) threshold = (sum - 1) / static_cast<Real>(k);
  }
  for (std::int64_t j = 0; j < n; ++j) weights[j] = std::max(scores[j] - threshold, Real{0});
}

} // namespace

extern const NormalizerInfo normalizer_sparsemax{
    .about = {.name = "sparsemax",
              .summary =
                  "w_j = max(s_j - t, 0), with t such that the weights sum to 1: keys with scores far below the best "
                  "get weight 0",
              .paper = "Martins and Astudillo 2016, arXiv 1602.02068",
              .equals = "hard where the best score is 1 or more above all others",
              .cost = "a few passes over each row, twice in training"},
    .make = [](const Scope&, std::int64_t, const OptionValues&) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<SparsemaxRows>>();
    },
    .row = row};

} // namespace heed::HEED_REAL
