#include "layers/attention/normalizer.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

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
      return std::make_unique<RowNormalizer<SumRule>>();
    },
    .row = row};

} // namespace heed::HEED_REAL
