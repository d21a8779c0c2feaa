#include "layers/attention/normalizer.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double alpha = 1.25;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("alpha", &Options::alpha, "from 1, where it is softmax, to 2, where it is sparsemax").above(1).at_most(2));
  return t;
}

/// w_j = max(x_j - t, 0)^(1 / (alpha - 1)) for x_j = (alpha - 1) (s_j - max s), in double, whatever Real is: a power of
/// 1 / (alpha - 1) takes digits away.
class EntmaxRows final : public RowPolicy {
public:
  explicit EntmaxRows(double alpha) : alpha_(alpha) {}

  // The sum of weights falls in t and is convex: Newton's steps from -1 come to where it is 1 from below, each with
  // fewer keys, and end where no digit changes.
  void weights(const Real* s, Real* w, std::int64_t n, Real* active) const override {
    if (row_is_lost(s, w, n)) return;
    const auto top = static_cast<double>(row_largest(s, n));
    const double step = alpha_ - 1, power = 1 / step;
    std::int64_t count = std::copy_if(s, s + n, active, [&](Real x) { return step * (x - top) > -1; }) - active;
    double threshold = -1;
    for (;;) {
      double sum = 0, slope = 0;
      std::int64_t left = 0;
      for (std::int64_t j = 0; j < count; ++j) {
        const double above = step * (static_cast<double>(active[j]) - top) - threshold;
        if (above <= 0) continue;
        active[left++] = active[j];
        const double less = std::pow(above, power - 1);
        sum += less * above;
        slope += less * power;
      }
      count = left;
      const double next = threshold + (sum - 1) / slope;
      if (!(next > threshold)) break;
      threshold = next;
    }
    for (std::int64_t j = 0; j < n; ++j) {
      const double above = step * (static_cast<double>(s[j]) - top) - threshold;
      w[j] = above > 0 ? static_cast<Real>(std::pow(above, power)) : Real{0};
    }
  }

  // The Jacobian is diag(g) - g g^T / sum g, with g_j = w_j^(2 - alpha) (Peters et al. 2019, proposition 2).
  void slopes(const Real*, const Real* w, const Real* dw, Real* ds, std::int64_t n, Real* g) const override {
    for (std::int64_t j = 0; j < n; ++j)
      g[j] = w[j] > 0 ? static_cast<Real>(std::pow(static_cast<double>(w[j]), 2 - alpha_)) : Real{0};
    const Real mean = row_dot(g, dw, n) / row_sum(g, n);
    for (std::int64_t j = 0; j < n; ++j) ds[j] = g[j] * (dw[j] - mean);
  }

private:
  double alpha_;
};

// By halving what holds the threshold: it is at least -1, where the best key alone has a weight of 1, and at most
// -n^(1 - alpha), where n keys as good as the best have one of 1 together.
void row(const Real* scores, Real* weights, std::int64_t n, const OptionValues& options) {
  if (n == 0) return;
  const double step = table().read(options).alpha - 1;
  const auto top = static_cast<double>(*std::max_element(scores, scores + n));
  const auto weight = [&](std::int64_t j, double threshold) {
    return std::pow(std::max(step * (static_cast<double>(scores[j]) - top) - threshold, 0.0), 1 / step);
  };
  double low = -1, high = -std::pow(static_cast<double>(n), -step);
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += weight(j, middle);
    (sum >= 1 ? low : high) = middle;
  }
  for (std::int64_t j = 0; j < n; ++j) weights[j] = static_cast<Real>(weight(j, low));
}

} // namespace

extern const NormalizerInfo normalizer_entmax{
    .about = {.name = "entmax",
              .summary = "w_j = max((alpha - 1) s_j - t, 0)^(1 / (alpha - 1)), with t such that the weights sum to 1: "
                         "from softmax (alpha = 1) to sparsemax (2)",
              .paper = "Peters, Niculae and Martins 2019, arXiv 1905.05702",
              .equals = "sparsemax with alpha = 2, entmax15 with alpha = 1.5",
              .cost = "some passes of powers over each row, twice in training: entmax15 is faster where it serves",
              .options = table().options(),
              .presets = {}},
    .make = [](const OptionValues& options) -> std::unique_ptr<Normalizer> {
      return std::make_unique<RowNormalizer<EntmaxRows>>(table().read(options).alpha);
    },
    .row = row};

} // namespace heed::HEED_REAL
