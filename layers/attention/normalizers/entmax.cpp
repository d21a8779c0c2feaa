#include "autograd/row_vectors.hpp"
#include "layers/attention/learned_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double alpha = 1.25;
  bool learned = false;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("alpha", &Options::alpha, "from 1 (softmax) to 2 (sparsemax)")
          .above(1)
          .at_most(2)
          .initial_value_if("learned"),
      option("learned", &Options::learned,
             "each head learns its own alpha between 1 and 2; the initial value is entmax.alpha, which must then be "
             "below 2"));
  return t;
}

// a_j = max(factor (x_j - shift) - threshold, 0).
struct Line {
  double factor, shift, threshold;

  // The first n of them at x. The other lanes are 0.
  WideSimd above(const Real* x, int n) const {
    return max((load_wide(x, n, -std::numeric_limits<double>::infinity()) - shift) * factor - threshold, WideSimd(0.0));
  }
};

// x^power for x >= 0. 0^0 is defined as 0, so that entries without weight contribute nothing.
WideSimd to_the(const WideSimd& x, double power) {
  return select(x > WideSimd(0.0), exp(log(x) * power), WideSimd(0.0));
}

// The sums of a_j^power, and of a_j^(power - 1) over a_j > 0.
struct PowerSums {
  double of_power, of_one_less;
};
PowerSums power_sums(const Real* x, const Line& line, double power, std::int64_t n) {
  WideSimd sum(0.0), less_sum(0.0);
  map_wide(n, [&](std::int64_t j, int m) {
    const WideSimd here = line.above(x + j, m), less = to_the(here, power - 1);
    sum += less * here;
    less_sum += less;
  });
  return {wide_sum(sum), wide_sum(less_sum)};
}

// y_j = a_j^power where a_j > 0, else 0.
void powers(const Real* x, const Line& line, double power, Real* y, std::int64_t n) {
  map_wide(n, [&](std::int64_t j, int m) { store_wide(y + j, to_the(line.above(x + j, m), power), m); });
}

/// w_j = max(x_j - t, 0)^(1 / (alpha - 1)) with x_j = (alpha - 1) (s_j - max s). Computed in double, whatever Real is,
/// because a power of 1 / (alpha - 1) loses digits.
struct Entmax {
  double step, rest; ///< alpha - 1, 2 - alpha

  // The sum of the weights is a decreasing, convex function of t. Newton's method therefore reaches the root, where the
  // sum is 1, from below; each step has fewer keys, and the iteration ends when no digit changes. It starts at the
  // larger of two lower bounds: the t at which the best key has weight 1, and the t at which n keys with the mean score
  // have weight 1 in total. The second is a lower bound because powers of 1 / (alpha - 1) are convex.
  void weights(const Real* s, Real* w, std::int64_t n) const {
    if (row_is_lost(s, w, n)) return;
    const auto top = static_cast<double>(row_largest(s, n)), count = static_cast<double>(n);
    const double power = 1 / step, mean = step * (std::accumulate(s, s + n, 0.0) / count - top);
    Line line{step, top, std::max(-1.0, mean - std::pow(count, -step))};
    for (;;) {
      const PowerSums sums = power_sums(s, line, power, n);
      const double next = line.threshold + (sums.of_power - 1) / (power * sums.of_one_less);
      if (!(next > line.threshold)) break;
      line.threshold = next;
    }
    powers(s, line, power, w, n);
  }

  // The Jacobian is diag(g) - g g^T / sum g, with g_j = w_j^(2 - alpha) (Peters et al. 2019, proposition 2).
  void backward(const Real* w, const Real* dw, Real* ds, std::int64_t n, Real* g) const {
    powers(w, {1, 0, 0}, rest, g, n);
    const Real mean = row_dot(g, dw, n) / row_sum(g, n);
    for (std::int64_t j = 0; j < n; ++j) ds[j] = g[j] * (dw[j] - mean);
  }

  // The derivative of sum_j dw_j w_j with respect to alpha (Correia et al. 2019, proposition 1), in a form without
  // differences of large numbers if e = alpha - 1 is small. With l_j = -log w_j, r_j = exp(e l_j) - 1 - e l_j, and the
  // weighted sums H of l_j and R of r_j, w_j has the derivative w_j ((R - r_j) / e^2 + (R l_j - H r_j) / e) / (1 + e H
  // + R).
  double derivative_by_alpha(const Real* w, const Real* dw, std::int64_t n) const {
    double entropy = 0, remainder = 0, given = 0, with_l = 0, with_r = 0; // the last three are multiplied with dw
    for (std::int64_t j = 0; j < n; ++j) {
      if (!(w[j] > 0)) continue;
      const auto p = static_cast<double>(w[j]), d = p * static_cast<double>(dw[j]);
      const double l = -std::log(p), r = beyond_line(step * l);
      entropy += p * l;
      remainder += p * r;
      given += d;
      with_l += d * l;
      with_r += d * r;
    }
    return ((remainder * given - with_r) / step + remainder * with_l - entropy * with_r) / step /
           (1 + step * entropy + remainder);
  }

private:
  // exp(x) - 1 - x.
  static double beyond_line(double x) {
    if (std::abs(x) > 0.1) return std::expm1(x) - x;
    double sum = 0, term = x * x / 2;
    for (int k = 3; k < 12; ++k) {
      sum += term;
      term *= x / k;
    }
    return sum;
  }
};

class EntmaxRows final : public RowRule {
public:
  explicit EntmaxRows(double step) : rule_{step, 1 - step} {}

  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real&) const override { rule_.weights(s, w, keys.n); }
  void backward(Real, const Real*, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override {
    rule_.backward(w, dw, ds, keys.n, scratch);
  }
  double derivative(const Real*, const Real* w, const Real* dw, const Real*, RowKeys keys) const {
    return rule_.derivative_by_alpha(w, dw, keys.n);
  }

private:
  Entmax rule_;
};

// With an alpha this close to 1, entmax equals softmax in all digits. A power of 1 / (alpha - 1) with an even smaller
// alpha - 1 would lose most digits.
constexpr double least_step = 1e-6;

// Finds the threshold by bisection. Bounds: at least -1, where the best key has weight 1; at most -n^(1 - alpha), where
// n keys with the best score have weight 1 in total.
void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues& options) {
  const std::int64_t n = keys.n;
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
              .paper = "Peters, Niculae and Martins 2019, arXiv 1905.05702; Correia, Niculae and Martins 2019, arXiv "
                       "1909.00015 (learned)",
              .equals = "sparsemax with alpha = 2, entmax15 with alpha = 1.5",
              .cost = "no parameters, or one for each head (learned); some passes of powers over each row, twice in "
                      "training; for alpha = 1.5, entmax15 is faster",
              .options = table().options(),
              .excludes = {{{{"", "attention.entmax.learned", {"true"}}, {"", "attention.entmax.alpha", {"2"}}},
                            "entmax.learned starts at entmax.alpha, which is 2, the upper bound of what it can learn: "
                            "choose an alpha below 2, such as 1.9",
                            Exclusion::Of::every_attention}}},
    .make = [](const Scope& scope, std::int64_t heads, const OptionValues& values) -> std::unique_ptr<Normalizer> {
      const Options options = table().read(values);
      if (!options.learned) return std::make_unique<RowNormalizer<EntmaxRows>>(options.alpha - 1);
      // alpha_h = 1 + sigmoid(a_h)
      return std::make_unique<LearnedNormalizer<EntmaxRows>>(
          scope, "alpha", heads, std::log((options.alpha - 1) / (2 - options.alpha)),
          [](Real step) { return EntmaxRows(std::max(static_cast<double>(step), least_step)); }, sigmoid);
    },
    .row = row};

} // namespace heed::HEED_REAL
