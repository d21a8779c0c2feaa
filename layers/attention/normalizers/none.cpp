#include "layers/attention/normalizer.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

class NoRows final : public RowRule {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real&) const override { std::copy_n(s, keys.n, w); }
  void backward(Real, const Real*, const Real*, const Real* dw, Real* ds, RowKeys keys, Real*) const override {
    std::copy_n(dw, keys.n, ds);
  }
};

void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues&) {
  const std::int64_t n = keys.n;
  for (std::int64_t j = 0; j < n; ++j) weights[j] = scores[j];
}

} // namespace

extern const NormalizerInfo normalizer_none{
    .about = {.name = "none",
              .summary = "w_j = s_j: the scores themselves, also negative ones; attention.score_mod can shape them, as "
                         "relu(s) / seen",
              .paper = "Wortsman et al. 2023, arXiv 2309.08586 (relu(s) / seen); Koohpayegani et al. 2024, arXiv "
                       "2410.18613 (polynomials)",
              .cost = "no operation of its own"},
    .make = [](const Scope&, std::int64_t, const OptionValues&) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<NoRows>>();
    },
    .row = row};

} // namespace heed::HEED_REAL
