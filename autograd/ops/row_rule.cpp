#include "autograd/row_rule.hpp"

#include "autograd/kernels/activations.hpp"
#include "autograd/kernels/scan.hpp"
#include "autograd/kernels/simd.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace heed::HEED_REAL {

namespace {

using Wide = xsimd::batch<double>;
constexpr int wide_lanes = static_cast<int>(Wide::size);

// max(factor (x_j - shift) - threshold, 0) of the first n values at x. The other lanes are 0.
Wide above(const Real* x, const RowLine& line, int n) {
  alignas(64) double all[wide_lanes];
  std::fill_n(all, wide_lanes, -std::numeric_limits<double>::infinity());
  std::copy_n(x, n, all);
  return xsimd::max((Wide::load_aligned(all) - line.shift) * line.factor - line.threshold, Wide(0.0));
}

// x^power for x >= 0. 0^0 is defined as 0, so that entries without weight contribute nothing.
Wide to_the(const Wide& x, double power) {
  return xsimd::select(x > Wide(0.0), xsimd::exp(xsimd::log(x) * power), Wide(0.0));
}

// y_j = f(j, n) for the first lanes; returns the sum of y.
template <class F> Real store_and_sum(Real* y, std::int64_t n, F&& f) {
  return sum_over(n, [&](std::int64_t j, int m) {
    const Simd here = f(j, m);
    store(y + j, here, m);
    return m == lanes ? here : load(y + j, m); // other lanes need not be 0
  });
}

template <class F> void map_wide(std::int64_t size, F&& f) {
  for (std::int64_t i = 0; i < size; i += wide_lanes)
    f(i, static_cast<int>(std::min<std::int64_t>(wide_lanes, size - i)));
}

double wide_sum(const Wide& x) {
  alignas(64) double all[wide_lanes];
  x.store_aligned(all);
  return std::accumulate(all, all + wide_lanes, 0.0);
}

} // namespace

// In most rows, the first score decides.
bool row_sees_nothing(const Real* x, std::int64_t n) {
  return std::all_of(x, x + n, [](Real s) { return s == -std::numeric_limits<Real>::infinity(); });
}

void RowRule::row_weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& value) const {
  if (row_sees_nothing(s, keys.n)) std::fill_n(w, keys.n, Real{0});
  else weights(s, w, keys, scratch, value);
}

void RowRule::row_backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                           Real* scratch) const {
  if (row_sees_nothing(s, keys.n)) std::fill_n(ds, keys.n, Real{0});
  else backward(value, s, w, dw, ds, keys, scratch);
}

void RowRule::row_weights_and_backward(Real value, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                                       Real* scratch) const {
  if (row_sees_nothing(s, keys.n)) {
    std::fill_n(w, keys.n, Real{0});
    std::fill_n(ds, keys.n, Real{0});
  } else {
    weights_and_backward(value, s, w, dw, ds, keys, scratch);
  }
}

Real row_largest(const Real* x, std::int64_t n) { return largest(x, n); }

Real row_exponentials(const Real* x, Real shift, Real* y, std::int64_t n) {
  return store_and_sum(y, n, [&](std::int64_t j, int m) { return exponential(load(x + j, m) - shift); });
}

Real row_scaled_exponentials(const Real* x, Real factor, Real shift, Real* y, std::int64_t n) {
  return store_and_sum(y, n, [&](std::int64_t j, int m) {
    return exponential(xsimd::fms(load(x + j, m), Simd(factor), Simd(shift)));
  });
}

Real row_exponentials_less_one(const Real* x, Real shift, Real* y, std::int64_t n) {
  const Real base = std::exp(-shift);
  return sum_over(n, [&](std::int64_t j, int m) {
    const Simd ys = exponential_less_one(load(x + j, m), shift, base);
    store(y + j, ys, m);
    return xsimd::abs(ys); // 0 beyond the row's end, where xs is 0
  });
}

void row_exponentials_with_less_one(const Real* x, Real* y, Real* e, std::int64_t n) {
  map(n, [&](std::int64_t j, int m) {
    const auto [less_one, exponentials] = exponential_with_less_one(load(x + j, m));
    store(y + j, less_one, m);
    store(e + j, exponentials, m);
  });
}

// In three loops: in one, each vector's chain of operations would be too long for several vectors to overlap.
Real row_stick_parts(const Real* x, Real* y, std::int64_t n) {
  Simd after(Real{0});
  const auto add = [&](std::int64_t j, int m) {
    const Simd sums = suffix_sums(load(y + j, m)) + after;
    after = from_first_lane(sums);
    store(y + j, sums, m);
  };
  map(n, [&](std::int64_t j, int m) { store(y + j, softplus(load(x + j, m)), m); });
  const std::int64_t whole = n / lanes * lanes;
  if (whole < n) add(whole, static_cast<int>(n - whole));
  for (std::int64_t j = whole; j > 0; j -= lanes) add(j - lanes, lanes);
  map(n, [&](std::int64_t j, int m) { store(y + j, bounded_exponential(load(x + j, m) - load(y + j, m)), m); });
  return after.get(0);
}

void row_less_running_means(const Real* x, const Real* w, Real sum, Real total, Real* y, std::int64_t n) {
  Simd sums(sum), totals(total);
  map(n, [&](std::int64_t j, int m) {
    const Simd xs = load(x + j, m), ws = load(w + j, m);
    sums = prefix_sums(ws * xs) + from_last_lane(sums);
    totals = prefix_sums(ws) + from_last_lane(totals);
    store(y + j, ws * (xs - sums / xsimd::max(totals, Simd(std::numeric_limits<Real>::min()))), m);
  });
}

std::int64_t row_exponentials_from(const Real* x, Real least, Real shift, Real* y, std::int64_t n) {
  std::int64_t count = 0;
  map(n, [&](std::int64_t j, int m) {
    const Simd xs = load(x + j, m);
    const auto taken = xs >= Simd(least);
    if (!xsimd::any(taken)) return store(y + j, Simd(Real{0}), m);
    store(y + j, xsimd::select(taken, exponential(xs - shift), Simd(Real{0})), m);
    for (std::int64_t i = j; i < j + m; ++i) count += x[i] >= least ? 1 : 0;
  });
  return count;
}

void row_from_top(const Real* x, Real factor, Real* y, std::int64_t n) {
  const Real top = largest(x, n);
  map(n, [&](std::int64_t j, int m) { store(y + j, (load(x + j, m) - top) * factor, m); });
  std::fill(y + n, y + whole_vectors(n), -std::numeric_limits<Real>::infinity());
}

std::pair<Real, Real> row_above(const Real* x, Real threshold, std::int64_t n) {
  return sums_over(whole_vectors(n), [&](std::int64_t j, int, Simd& sum, Simd& squares) {
    const Simd here = xsimd::max(load(x + j) - threshold, Simd(Real{0}));
    sum += here;
    squares += here * here;
  });
}

RowPowerSums row_power_sums(const Real* x, const RowLine& line, double power, std::int64_t n) {
  Wide sum(0.0), less_sum(0.0);
  map_wide(n, [&](std::int64_t j, int m) {
    const Wide here = above(x + j, line, m), less = to_the(here, power - 1);
    sum += less * here;
    less_sum += less;
  });
  return {wide_sum(sum), wide_sum(less_sum)};
}

void row_powers(const Real* x, const RowLine& line, double power, Real* y, std::int64_t n) {
  map_wide(n, [&](std::int64_t j, int m) {
    alignas(64) double all[wide_lanes];
    to_the(above(x + j, line, m), power).store_aligned(all);
    for (int i = 0; i < m; ++i) y[j + i] = static_cast<Real>(all[i]);
  });
}

// Finds candidates before it sorts. The k-th largest of the maxima of disjoint groups is a lower bound of the result.
// With 2 k groups, only about 1.4 k values reach this bound.
Real row_kth_largest(const Real* x, std::int64_t k, std::int64_t n, Real* scratch) {
  const std::int64_t groups = whole_vectors(2 * k);
  const auto select = [&](std::int64_t of) {
    std::nth_element(scratch, scratch + k - 1, scratch + of, std::greater<>());
    return scratch[k - 1];
  };
  std::int64_t candidates = n;
  if (2 * groups > n) {
    std::copy_n(x, n, scratch);
  } else {
    for (std::int64_t g = 0; g < groups; g += lanes) {
      Simd best = load(x + g);
      for (std::int64_t j = g + groups; j + lanes <= n; j += groups) best = xsimd::max(best, load(x + j));
      store(scratch + g, best);
    }
    const Real least = select(groups);
    candidates = 0;
    map(n, [&](std::int64_t j, int m) {
      if (m == lanes && !xsimd::any(load(x + j) >= Simd(least))) return;
      for (std::int64_t i = j; i < j + m; ++i) { // without branches, which would be mispredicted
        scratch[candidates] = x[i];
        candidates += x[i] >= least ? 1 : 0;
      }
    });
  }
  return select(candidates);
}

void row_roots(const Real* x, Real* y, std::int64_t n) {
  map(n, [&](std::int64_t j, int m) { store(y + j, xsimd::sqrt(load(x + j, m)), m); });
}

Real row_sum(const Real* x, std::int64_t n) {
  return sum_over(n, [&](std::int64_t j, int m) { return load(x + j, m); });
}

Real row_dot(const Real* x, const Real* y, std::int64_t n) {
  return sum_over(n, [&](std::int64_t j, int m) { return load(x + j, m) * load(y + j, m); });
}

Real row_scale_and_dot(Real factor, Real* x, const Real* y, std::int64_t n) {
  return sum_over(n, [&](std::int64_t j, int m) {
    const Simd scaled = load(x + j, m) * factor;
    store(x + j, scaled, m);
    return scaled * load(y + j, m);
  });
}

bool row_has_nan(const Real* x, std::int64_t n) {
  xsimd::batch_bool<Real> nans(false);
  map(n, [&](std::int64_t j, int m) { nans = nans | xsimd::isnan(load(x + j, m)); });
  return xsimd::any(nans);
}

bool row_is_lost(const Real* x, Real* y, std::int64_t n) {
  if (!row_has_nan(x, n) && !std::isinf(largest(x, n))) return false;
  std::fill_n(y, n, std::numeric_limits<Real>::quiet_NaN());
  return true;
}

} // namespace heed::HEED_REAL
