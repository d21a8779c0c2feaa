#include "autograd/row_vectors.hpp"
#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::int64_t k = 8;
};

const OptionTable<Options>& table() {
  static const auto t =
      option_table<Options>(option("k", &Options::k, "how many keys a query attends to").between(1, 1e9).unit("keys"));
  return t;
}

class TopKRows final : public RowRule {
public:
  explicit TopKRows(std::int64_t k) : k_(k) {}

  void weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& least) const override {
    if (row_is_lost(s, w, keys.n)) return;
    least = k_ < keys.n ? kth_largest(s, keys.n, scratch) : -std::numeric_limits<Real>::infinity();
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
    std::int64_t too_many = exponentials_from(s, least, row_largest(s, n), w, n) - k_;
    for (std::int64_t j = n - 1; too_many > 0; --j)
      if (s[j] == least) {
        w[j] = 0;
        --too_many;
      }
    const Real total = row_sum(w, n);
    for (std::int64_t j = 0; j < n; ++j) w[j] /= total;
  }

  // w_j = exp(s_j - shift) where s_j >= least, else 0. Returns the number of s_j >= least.
  static std::int64_t exponentials_from(const Real* s, Real least, Real shift, Real* w, std::int64_t n) {
    std::int64_t count = 0;
    map(n, [&](std::int64_t j, int m) {
      const Simd here = load(s + j, m);
      const auto taken = here >= Simd(least);
      if (!any(taken)) return store(w + j, Simd(Real{0}), m);
      store(w + j, select(taken, exponential(here - shift), Simd(Real{0})), m);
      for (std::int64_t i = j; i < j + m; ++i) count += s[i] >= least ? 1 : 0;
    });
    return count;
  }

  // The k-th largest of n >= k scores without a NaN. Finds candidates before it sorts: the k-th largest of the maxima
  // of disjoint groups is a lower bound of the result. With 2 k groups, only about 1.4 k scores reach this bound.
  Real kth_largest(const Real* s, std::int64_t n, Real* scratch) const {
    const std::int64_t groups = whole_vectors(2 * k_);
    const auto kth_of = [&](std::int64_t size) {
      std::nth_element(scratch, scratch + k_ - 1, scratch + size, std::greater<>());
      return scratch[k_ - 1];
    };
    if (2 * groups > n) {
      std::copy_n(s, n, scratch);
      return kth_of(n);
    }
    for (std::int64_t g = 0; g < groups; g += lanes) {
      Simd best = load(s + g);
      for (std::int64_t j = g + groups; j + lanes <= n; j += groups) best = max(best, load(s + j));
      store(scratch + g, best);
    }
    const Real least = kth_of(groups);
    std::int64_t candidates = 0;
    map(n, [&](std::int64_t j, int m) {
      if (m == lanes && !any(load(s + j) >= Simd(least))) return;
      for (std::int64_t i = j; i < j + m; ++i) { // without branches, which would be mispredicted
        scratch[candidates] = s[i];
        candidates += s[i] >= least ? 1 : 0;
      }
    });
    return kth_of(candidates);
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
