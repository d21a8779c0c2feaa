#include "autograd/row_vectors.hpp"
#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string own_key = "none";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option(
          "own_key", &Options::own_key,
          "the weight of the query's own position: none; remainder (what the earlier keys leave of 1); attended (the "
          "first key to take its part, as any other)")
          .one_of({"none", "remainder", "attended"}));
  return t;
}

class StickBreakingRows final : public RowRule {
public:
  explicit StickBreakingRows(const Options& options)
      : remainder_(options.own_key == "remainder"), attended_(options.own_key == "attended") {}

  bool is_ordered() const override { return true; }

  // log w_j = s_j - sum_{k >= j} softplus(s_k): a product of probabilities would lose the digits of those near 1. The
  // row's value is the logarithm of what all keys leave.
  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real& log_left) const override {
    const std::int64_t n = sharing(keys);
    log_left = n > 0 ? -parts(s, w, n) : Real{0};
    if (!std::isfinite(log_left) || row_has_nan(s + n, keys.n - n)) {
      std::fill_n(w, keys.n, std::numeric_limits<Real>::quiet_NaN());
      return;
    }
    std::fill(w + n, w + keys.n, Real{0});
    if (gives_remainder(keys)) w[n] = std::exp(log_left);
  }

  // With what the keys up to j share, p_j = w_0 + ... + w_j + what all leave, the sigmoid of s_j is w_j / p_j. So with
  // g_j = dw_j w_j, ds_j = g_j - sigmoid(s_j) (g_0 + ... + g_j + the remainder's g) = w_j (dw_j - mean_j), where mean_j
  // is the mean of dw over these parts of p_j.
  void backward(Real log_left, const Real*, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real*) const override {
    const std::int64_t n = sharing(keys);
    less_running_means(dw, w, gives_remainder(keys) ? dw[n] * w[n] : Real{0}, std::exp(log_left), ds, n);
    std::fill(ds + n, ds + keys.n, Real{0});
  }

private:
  // w_j = exp(s_j - t_j) with t_j = sum_{k >= j} log(1 + exp(s_k)), which is sigmoid(s_j) prod_{k > j} (1 -
  // sigmoid(s_k)). Returns t_0. In three loops: in one, each vector's chain of operations would be too long for several
  // vectors to overlap.
  static Real parts(const Real* s, Real* w, std::int64_t n) {
    Simd after(Real{0});
    const auto add = [&](std::int64_t j, int m) {
      const Simd sums = suffix_sums(load(w + j, m)) + after;
      after = from_first_lane(sums);
      store(w + j, sums, m);
    };
    map(n, [&](std::int64_t j, int m) { store(w + j, softplus(load(s + j, m)), m); });
    const std::int64_t whole = n / lanes * lanes;
    if (whole < n) add(whole, static_cast<int>(n - whole));
    for (std::int64_t j = whole; j > 0; j -= lanes) add(j - lanes, lanes);
    map(n, [&](std::int64_t j, int m) { store(w + j, bounded_exponential(load(s + j, m) - load(w + j, m)), m); });
    return after.get(0);
  }

  // y_j = w_j (x_j - m_j) with m_j = (sum + sum_{k <= j} w_k x_k) / (total + sum_{k <= j} w_k): running means of x with
  // the weights w >= 0. y_j = 0 where w_j = 0.
  static void less_running_means(const Real* x, const Real* w, Real sum, Real total, Real* y, std::int64_t n) {
    Simd sums(sum), totals(total);
    map(n, [&](std::int64_t j, int m) {
      const Simd xs = load(x + j, m), ws = load(w + j, m);
      sums = prefix_sums(ws * xs) + from_last_lane(sums);
      totals = prefix_sums(ws) + from_last_lane(totals);
      store(y + j, ws * (xs - sums / max(totals, Simd(std::numeric_limits<Real>::min()))), m);
    });
  }

  // The number of keys that share the stick. They come first in the row.
  std::int64_t sharing(RowKeys keys) const { return keys.earlier + (attended_ && keys.own ? 1 : 0); }
  bool gives_remainder(RowKeys keys) const { return remainder_ && keys.own; }

  bool remainder_, attended_;
};

// From the nearest key to the first: each takes a part, the sigmoid of its score, of what is left of 1.
void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues& options) {
  const std::string own_key = table().read(options).own_key;
  double left = 1;
  std::fill_n(weights, keys.n, Real{0});
  for (std::int64_t j = keys.earlier - (own_key == "attended" && keys.own ? 0 : 1); j >= 0; --j) {
    const auto s = static_cast<double>(scores[j]);
    weights[j] = static_cast<Real>(left / (1 + std::exp(-s)));
    left /= 1 + std::exp(s);
  }
  if (own_key == "remainder" && keys.own) weights[keys.earlier] = static_cast<Real>(left);
}

} // namespace

extern const NormalizerInfo normalizer_stick_breaking{
    .about = {.name = "stick_breaking",
              .summary =
                  "w_j = sigmoid(s_j) prod_k (1 - sigmoid(s_k)), over the keys k between key j and the query: the "
                  "nearest key takes its part of 1 first, so no positions are needed; causal self attention only",
              .paper = "Tan et al. 2024, arXiv 2410.17980",
              .cost = "two exponentials and a logarithm for each pair, twice in training",
              .options = table().options()},
    .make = [](const Scope&, std::int64_t, const OptionValues& options) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<StickBreakingRows>>(table().read(options));
    },
    .row = row,
    .is_ordered = true};

} // namespace heed::HEED_REAL
