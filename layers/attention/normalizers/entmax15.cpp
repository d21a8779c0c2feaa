#include "autograd/row_vectors.hpp"
#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace heed::HEED_REAL {

namespace {

class Entmax15Rows final : public RowRule {
public:
  // With x_j = (s_j - max s) / 2, the threshold t is the root in [-1, 0] of f(t) = sum_j max(x_j - t, 0)^2 - 1, which
  // is decreasing and convex. Newton's method from -1 reaches the root from below; each step has fewer keys, and the
  // iteration ends when no digit changes.
  void weights(const Real* s, Real* w, RowKeys keys, Real* x, Real& threshold) const override {
    if (row_is_lost(s, w, keys.n)) return;
    row_from_top(s, Real(0.5), x, keys.n);
    threshold = -1;
    for (;;) {
      const auto [sum, squares] = sums_over(whole_vectors(keys.n),
                                            [&](std::int64_t j, int, Simd& total, Simd& squared) {
                                              const Simd above = max(load(x + j) - threshold, Simd(Real{0}));
                                              total += above;
                                              squared += above * above;
                                            });
      const Real next = threshold + (squares - 1) / (2 * sum);
      if (!(next > threshold)) break;
      threshold = next;
    }
    weights_above(threshold, x, w, keys.n);
  }

  // The Jacobian is diag(g) - g g^T / sum g, with g_j = sqrt(w_j) (Peters et al. 2019, proposition 2).
  void backward(Real, const Real*, const Real* w, const Real* dw, Real* ds, RowKeys keys, Real* g) const override {
    map(keys.n, [&](std::int64_t j, int m) { store(g + j, sqrt(load(w + j, m)), m); });
    const Real mean = row_dot(g, dw, keys.n) / row_sum(g, keys.n);
    for (std::int64_t j = 0; j < keys.n; ++j) ds[j] = g[j] * (dw[j] - mean);
  }
  void weights_and_backward(Real threshold, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                            Real* x) const override {
    if (!row_is_lost(s, w, keys.n)) {
      row_from_top(s, Real(0.5), x, keys.n);
      weights_above(threshold, x, w, keys.n);
    }
    backward(threshold, s, w, dw, ds, keys, x);
  }

private:
  static void weights_above(Real threshold, const Real* x, Real* w, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) {
      const Real above = std::max(x[j] - threshold, Real{0});
      w[j] = above * above;
    }
  }
};

// The paper's algorithm 2, by sorting.
void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues&) {
  const std::int64_t n = keys.n;
  if (n == 0) return;
  std::vector<double> sorted(scores, scores + n);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double top = sorted[0];
  double mean = 0, squares = 0, threshold = 0;
  for (std::int64_t k = 1; k <= n; ++k) {
    const double x = (sorted[static_cast<std::size_t>(k - 1)] - top) / 2;
    mean += (x - mean) / static_cast<double>(k);
    squares += (x * x - squares) / static_cast<double>(k);
    const double rest = (1 - static_cast<double>(k) * (squares - mean * mean)) / static_cast<double>(k);
    const double candidate = mean - std::sqrt(std::max(rest, 0.0));
    if (candidate <= x) threshold = candidate;
  }
  for (std::int64_t j = 0; j < n; ++j) {
    const double above = std::max((static_cast<double>(scores[j]) - top) / 2 - threshold, 0.0);
    weights[j] = static_cast<Real>(above * above);
  }
}

} // namespace

extern const NormalizerInfo normalizer_entmax15{
    .about = {.name = "entmax15",
              .summary = "w_j = max(s_j / 2 - t, 0)^2, with t such that the weights sum to 1: between softmax and "
                         "sparsemax; keys with scores far below the best get weight 0",
              .paper = "Peters, Niculae and Martins 2019, arXiv 1905.05702",
              .equals = "hard where the best score is 2 or more above all others",
              .cost = "some passes over each row, twice in training"},
    .make = [](const Scope&, std::int64_t, const OptionValues&) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<Entmax15Rows>>();
    },
    .row = row};

} // namespace heed::HEED_REAL
