#include "experiments/statistics/unpaired.hpp"

#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace heed::statistics {

namespace {

/// The standard error of the difference and its degrees of freedom.
struct WelchError {
  double value = 0, freedom = 0;
};

std::optional<WelchError> welch_error(std::span<const double> a, std::span<const double> b) {
  const auto spread_a = standard_deviation(a), spread_b = standard_deviation(b);
  if (!spread_a || !spread_b) return std::nullopt;
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size()), va = *spread_a * *spread_a / n,
               vb = *spread_b * *spread_b / m;
  const double freedom = (va + vb) * (va + vb) / (va * va / (n - 1) + vb * vb / (m - 1));
  if (!std::isfinite(freedom) || !(freedom > 0)) return std::nullopt;
  return WelchError{std::sqrt(va + vb), freedom};
}

} // namespace

PairedDifference unpaired_difference(std::span<const double> a, std::span<const double> b, double confidence) {
  check_confidence(confidence);
  PairedDifference out;
  out.mean = mean(a) - mean(b);
  out.confidence = confidence;
  if (const auto error = welch_error(a, b)) {
    const double reach = student_quantile(error->freedom, (1 + confidence) / 2) * error->value;
    out.interval = Interval{out.mean - reach, out.mean + reach};
  }
  return out;
}

std::optional<WelchT> welch_t(std::span<const double> a, std::span<const double> b) {
  const double difference = mean(a) - mean(b);
  const auto error = welch_error(a, b);
  return error ? std::optional(WelchT{difference / error->value, error->freedom}) : std::nullopt;
}

std::optional<double> effect_size_unpaired(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size()), sa = *standard_deviation(a),
               sb = *standard_deviation(b), freedom = n + m - 2;
  const double pooled = std::sqrt(((n - 1) * sa * sa + (m - 1) * sb * sb) / freedom);
  if (!std::isfinite(pooled) || !(pooled > 0)) return std::nullopt;
  return hedges_factor(freedom) * (mean(a) - mean(b)) / pooled;
}

namespace {

/// Which |t| or t of an assignment count as at least the observed one.
enum class Side { both, above, below };

/// The values of both arms without their means, in units of the largest. The observed difference is 0; so `shift` is
/// added to a's values, which is the difference then.
class Residuals {
public:
  Residuals(std::span<const double> a, std::span<const double> b) : n_(real(a.size())), m_(real(b.size())) {
    // Means are rounded: what is smaller than this is zero.
    const auto without_rounding = [zero = 1e-12 * std::max(largest_size(a), largest_size(b))](double x) {
      return std::abs(x) <= zero ? 0 : x;
    };
    const double mean_a = mean(a), mean_b = mean(b);
    difference_ = without_rounding(mean_a - mean_b);
    for (const double x : a) values_.push_back(without_rounding(x - mean_a));
    for (const double x : b) values_.push_back(without_rounding(x - mean_b));
    unit_ = scale_of(values_);
    double of_a = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] /= unit_;
      (i < a.size() ? of_a : squares_) += values_[i] * values_[i];
    }
    observed_ = of_a / (n_ * (n_ - 1)) + squares_ / (m_ * (m_ - 1));
    squares_ += of_a;
    exact_ = visit_assignments(a.size(), b.size(), [&](std::span<const std::size_t> first) { add(first, a.size()); });
  }

  bool exact() const { return exact_; }
  std::size_t count() const { return assignments_.size(); }
  double unit() const { return unit_; }
  double difference() const { return difference_; } ///< of the means
  double standard_error() const { return std::sqrt(observed_); }

  /// The proportion of the assignments whose t is at least the observed one, if a's values are shifted.
  double p(double shift, Side side) const {
    poll_caller();
    const double sign = side == Side::below ? -1 : 1, own = sign * shift;
    std::size_t reached = 1; // the observed assignment, the first
    for (std::size_t i = 1; i < count(); ++i) {
      const Assignment& of = assignments_[i];
      const double difference = sign * (of.constant + of.slope * shift);
      const double variance = std::max(0.0, of.variance[0] + shift * (of.variance[1] + shift * of.variance[2]));
      // t >= own t, both sides squared with their signs and multiplied by both variances
      const auto squared = [&](double x) { return side == Side::both ? x * x : x * std::abs(x); };
      const double left = squared(difference) * observed_, right = squared(own) * variance;
      reached += left >= right - tolerance * std::abs(right);
    }
    return real(reached) / real(count());
  }

private:
  static double real(std::size_t count) { return static_cast<double>(count); }
  static constexpr double tolerance = 1e-9; // relative

  /// The difference of an assignment is constant + slope * shift, and the square of its standard error a polynomial.
  struct Assignment {
    double constant, slope, variance[3];
  };

  void add(std::span<const std::size_t> first, std::size_t n) {
    double sum = 0, squares = 0, kept_sum = 0, kept = 0; // kept: runs that are a's, observed and assigned
    for (const std::size_t i : first) {
      sum += values_[i];
      squares += values_[i] * values_[i];
      if (i >= n) continue;
      kept_sum += values_[i];
      kept += 1;
    }
    const double left = n_ - kept; // a's runs that are assigned to b
    const double by_a = 1 / (n_ * (n_ - 1)), by_b = 1 / (m_ * (m_ - 1));
    assignments_.push_back({sum / n_ + sum / m_,
                            kept / n_ - left / m_,
                            {(squares - sum * sum / n_) * by_a + (squares_ - squares - sum * sum / m_) * by_b,
                             2 * (kept_sum - sum * kept / n_) * by_a + 2 * (sum * left / m_ - kept_sum) * by_b,
                             (kept - kept * kept / n_) * by_a + (left - left * left / m_) * by_b}});
  }

  double n_, m_, difference_ = 0, unit_ = 1, squares_ = 0,
                 observed_ = 0; // observed_: squared standard error of the difference
  bool exact_ = true;
  std::vector<double> values_;
  std::vector<Assignment> assignments_;
};

/// The largest shift away from 0, in the direction of `sign`, that the test does not reject at the level; empty if it
/// rejects none.
std::optional<double> end_of(const Residuals& runs, double sign, Side side, double level) {
  double rejected = sign * std::max(runs.standard_error(), 1e-12), open = 0;
  constexpr int doublings = 60, halvings = 40;
  for (int i = 0; runs.p(rejected, side) > level; ++i) {
    if (i == doublings) return std::nullopt;
    open = rejected;
    rejected *= 2;
  }
  for (int i = 0; i < halvings; ++i) {
    const double middle = (open + rejected) / 2;
    (runs.p(middle, side) > level ? open : rejected) = middle;
  }
  return open;
}

std::optional<Interval> joined(const std::optional<Interval>& one, const std::optional<Interval>& other) {
  if (!one || !other) return one;
  return Interval{std::min(one->low, other->low), std::max(one->high, other->high)};
}

} // namespace

void raise_to_welch(PermutationLevels& levels, std::span<const double> a, std::span<const double> b) {
  const std::optional<WelchT> t = welch_t(a, b);
  if (!t) return;
  levels.p = std::max(levels.p, 2 * student_above(t->freedom, std::abs(t->value)));
  levels.p_above = std::max(levels.p_above, student_above(t->freedom, t->value));
}

void join_with_welch(PermutationTest& test, std::span<const double> a, std::span<const double> b, double confidence) {
  test.interval = joined(test.interval, unpaired_difference(a, b, confidence).interval);
  if (confidence > 0.5) test.sides = joined(test.sides, unpaired_difference(a, b, 2 * confidence - 1).interval);
}

PermutationLevels welch_permutation_levels(std::span<const double> a, std::span<const double> b) {
  const Residuals runs(a, b);
  const double shift = runs.difference() / runs.unit();
  PermutationLevels out{runs.p(shift, Side::both), runs.p(shift, Side::above)};
  raise_to_welch(out, a, b);
  return out;
}

PermutationTest welch_permutation_test(std::span<const double> a, std::span<const double> b, double confidence) {
  const Residuals runs(a, b);
  const double shift = runs.difference() / runs.unit(), level = 1 - confidence, difference = mean(a) - mean(b);

  PermutationTest test;
  test.exact = runs.exact();
  test.permutations = runs.count();
  test.p = runs.p(shift, Side::both);
  test.p_above = runs.p(shift, Side::above);
  raise_to_welch(test, a, b);
  /// The differences that are not rejected: a value of the difference is the observed one less the shift.
  const auto between = [&](Side low, Side high) -> std::optional<Interval> {
    const auto up = end_of(runs, 1, low, level + 1e-9), down = end_of(runs, -1, high, level + 1e-9);
    if (!up || !down) return std::nullopt;
    return Interval{difference - *up * runs.unit(), difference - *down * runs.unit()};
  };
  test.interval = between(Side::both, Side::both);
  if (level < 0.5) test.sides = between(Side::above, Side::below);
  join_with_welch(test, a, b, confidence);
  return test;
}

} // namespace heed::statistics
