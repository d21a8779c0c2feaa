#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <vector>

namespace heed::HEED_REAL {

namespace {

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
      return std::make_unique<RowNormalizer<SparsemaxRule>>();
    },
    .row = row};

} // namespace heed::HEED_REAL
