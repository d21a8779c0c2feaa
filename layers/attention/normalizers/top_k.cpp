#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::int64_t k = 8;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("k", &Options::k, "how many keys a query attends to").at_least(1).at_most(1e9).unit("keys"));
  return t;
}

class TopKRows final : public RowRule {
public:
  explicit TopKRows(std::int64_t k) : k_(k) {}

  void weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& least) const override {
    if (row_is_lost(s, w, keys.n)) return;
    least = k_ < keys.n ? row_kth_largest(s, k_, keys.n, scratch) : -std::numeric_limits<Real>::infinity();
    weights_of_best(least, s, w, keys.n);
  }

  // The gradient of the softmax over the selected keys; the other weights are 0.
  void backward(Real least, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override {
    SoftmaxRule().backward(least, s, w, dw, ds, keys, scratch);
  }
  void weights_and_backward(Real least, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                            Real* scratch) const override {
    if (!row_is_lost(s, w, keys.n)) weights_of_best(least, s, w, keys.n);
    backward(least, s, w, dw, ds, keys, scratch);
  }

private:
  // Among keys with equal scores, earlier keys are taken first.
  void weights_of_best(Real least, const Real* s, Real* w, std::int64_t n) const {
    std::int64_t too_many = row_exponentials_from(s, least, row_largest(s, n), w, n) - k_;
    for (std::int64_t j = n - 1; too_many > 0; --j)
      if (s[j] == least) {
        w[j] = 0;
        --too_many;
      }
    const Real total = row_sum(w, n);
    for (std::int64_t j = 0; j < n; ++j) w[j] /= total;
  }

  std::int64_t k_;
};

void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues& options) {
  const std::int64_t n = keys.n;
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
  std::fill_n(weights, n, Real{0});
  order.resize(static_cast<std::size_t>(std::min(n, table().read(options).k)));
  const auto power = [&](std::int64_t j) {
    return std::exp(static_cast<double>(scores[j]) - static_cast<double>(scores[order[0]]));
  };
  double total = 0;
  for (const std::int64_t j : order) total += power(j);
  for (const std::int64_t j : order) weights[j] = static_cast<Real>(power(j) / total);
}

} // namespace

extern const NormalizerInfo normalizer_top_k{
    .about = {.name = "top_k",
              .summary = "softmax over the k keys with the best scores; of equal scores, the first ones",
              .paper = "Zhao et al. 2019, arXiv 1912.11637; Gupta et al. 2021, arXiv 2106.06899",
              .equals = "softmax where k is at least the number of keys; hard with k = 1",
              .cost = "a selection in each row, twice in training",
              .options = table().options()},
    .make = [](const Scope&, std::int64_t, const OptionValues& options) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<TopKRows>>(table().read(options).k);
    },
    .row = row};

} // namespace heed::HEED_REAL
