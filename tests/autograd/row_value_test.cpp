// Compares the row functions (softmax, norms, losses) with plain loops in double.
#include "autograd/attention.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"

#include <limits>
#include <numeric>

using namespace heed;
using namespace heed::HEED_REAL;

TEST_CASE("softmax and log-softmax neither overflow nor vanish", "[value]") {
  for (int width : {1, 3, 8, 17, 33}) {
    std::vector<Real> x(static_cast<std::size_t>(width));
    std::iota(x.begin(), x.end(), Real{0});
    double total = 0;
    for (Real v : x) total += std::exp(static_cast<double>(v) - (width - 1));
    for (Real shift : {Real(0), Real(10000), Real(-10000)}) {
      std::vector<Real> shifted = x;
      std::vector<double> p, log_p;
      for (Real& v : shifted) {
        p.push_back(std::exp(static_cast<double>(v) - (width - 1)) / total);
        log_p.push_back(static_cast<double>(v) - (width - 1) - std::log(total));
        v += shift;
      }
      CHECK(distance(apply(shifted, {width}, [](const Tensor& t) { return softmax(t); }), p) < rounding);
      // The logarithm of the sum has a rounding error relative to the shift.
      CHECK(distance(apply(shifted, {width}, [](const Tensor& t) { return log_softmax(t); }), log_p) <
            (shift == 0 ? rounding : 1000 * rounding));
    }
  }
}

TEST_CASE("difference_of_maps subtracts each second head, times lambda, in any memory order", "[value]") {
  const std::int64_t B = 2, H = 3, T = 5;
  for (const bool by_query : {false, true})
    for (const std::int64_t D : {1, 7, 16, 33})
      for (const Shape& by : {Shape{1, 1, 1, 1}, {B, 1, T, 1}, {1, H, 1, 1}, {B, H, T, 1}}) {
        INFO((by_query ? "by query, width " : "by head, width ") << D << ", lambda " << by.text());
        Tape tape;
        Operand x(by_query ? Shape{B, T, 2 * H, D} : Shape{B, 2 * H, T, D}, 1), lambda(by, 2);
        const Tensor on = x.on(tape), y = difference_of_maps(by_query ? transpose(on, 1, 2) : on, lambda.on(tape));
        CHECK((y.stride[1] < y.stride[2]) == (by_query && T > 1));
        std::vector<double> expected;
        for (std::int64_t r = 0; r < B * H * T; ++r) {
          const std::int64_t b = r / (H * T), h = r / T % H, t = r % T;
          const auto at = [&](std::int64_t head, std::int64_t j) {
            const std::int64_t row = by_query ? (b * T + t) * 2 * H + head : (b * 2 * H + head) * T + t;
            return static_cast<double>(x.values[static_cast<std::size_t>(row * D + j)]);
          };
          const std::int64_t of_lambda = ((by[0] == 1 ? 0 : b) * by[1] + (by[1] == 1 ? 0 : h)) * by[2] +
                                         (by[2] == 1 ? 0 : t);
          for (std::int64_t j = 0; j < D; ++j)
            expected.push_back(at(2 * h, j) - static_cast<double>(lambda.values[static_cast<std::size_t>(of_lambda)]) *
                                                  at(2 * h + 1, j));
        }
        CHECK(distance(read(y), expected) < rounding);
      }
  Tape tape;
  Operand x({1, 4, 3, 2}, 1), odd({1, 3, 3, 2}, 1), lambda({1, 2, 3, 2}, 2);
  CHECK_THROWS_WITH(difference_of_maps(odd.on(tape), lambda.on(tape)),
                    "[difference_of_maps] x must be [B, 2 H, T, D], it is [1, 3, 3, 2]");
  CHECK_THROWS_WITH(
      difference_of_maps(x.on(tape), lambda.on(tape)),
      "[difference_of_maps] lambda must be [B or 1, H or 1, T or 1, 1], it is [1, 2, 3, 2]; x is [1, 4, 3, 2]");
}

TEST_CASE("masked softmax equals softmax over what each query may attend to", "[value]") {
  const std::int64_t B = 2, H = 3, Tq = 4, Tk = 19, offset = 3;
  const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  std::vector<std::uint8_t> allowed;
  for (Real v : draw(B * Tq * Tk, 7)) allowed.push_back(v > 0);
  std::fill_n(allowed.begin() + 2 * Tk, Tk, std::uint8_t{0}); // query 2 of entry 0 may attend to nothing
  const std::int32_t lengths[] = {11, 0};

  const auto check = [&](const Mask& mask) {
    const auto may = [&](std::int64_t b, std::int64_t q, std::int64_t k) {
      if (mask.causal && k > q + offset) return false;
      if (mask.window >= 0 && std::abs(q + offset - k) > mask.window) return false;
      if (mask.lengths && k >= lengths[b]) return false;
      return !mask.allowed || allowed[index(((mask.allowed_shared ? 0 : b) * Tq + q) * Tk + k)] != 0;
    };
    Tape tape;
    Operand x({B, H, Tq, Tk}, 1, {-30, 30});
    std::vector<double> expected;
    for (std::int64_t row = 0; row < B * H * Tq; ++row) {
      const std::int64_t b = row / (H * Tq), q = row % Tq;
      std::vector<double> e;
      for (std::int64_t k = 0; k < Tk; ++k)
        e.push_back(may(b, q, k) ? std::exp(static_cast<double>(x.values[index(row * Tk + k)])) : 0);
      const double total = std::accumulate(e.begin(), e.end(), 0.0);
      for (double v : e) expected.push_back(total > 0 ? v / total : 0);
    }
    INFO("causal " << mask.causal << ", window " << mask.window << ", lengths " << (mask.lengths != nullptr)
                   << ", matrix " << (mask.allowed != nullptr) << ", shared " << mask.allowed_shared);
    CHECK(distance(read(masked_softmax(x.on(tape), mask)), expected) < rounding);
  };
  for (bool causal : {false, true})
    for (std::int64_t window : {-1, 0, 2})
      for (const std::int32_t* padding : {static_cast<const std::int32_t*>(nullptr), lengths}) {
        Mask mask{.causal = causal, .offset = offset, .window = window, .lengths = padding};
        check(mask);
        mask.allowed = allowed.data();
        check(mask);
        mask.allowed_shared = false;
        check(mask);
      }
}

TEST_CASE("a query that may attend to nothing gives zeros and a zero gradient, whatever stands there", "[value]") {
  Tape tape;
  const std::int32_t lengths[] = {0};
  Operand x({1, 1, 2, 3}, {not_a_number, infinity, 1, 2, 3, -infinity});
  const Tensor y = masked_softmax(x.on(tape), {.lengths = lengths});
  tape.backward(sum(y));
  CHECK(read(y) == std::vector<Real>(6, 0));
  CHECK(x.gradient == std::vector<Real>(6, 0));
}

TEST_CASE("norms equal two passes over each row", "[value]") {
  for (int width : {1, 3, 8, 17, 33}) {
    Tape tape;
    Operand x({5, width}, 1, {2, 9}), gain({width}, 2), bias({width}, 3);
    std::vector<double> layer, rms, unit;
    for (std::size_t r = 0; r < 5; ++r) {
      const auto w = static_cast<std::size_t>(width);
      const std::vector<double> row(x.values.begin() + static_cast<std::ptrdiff_t>(r * w),
                                    x.values.begin() + static_cast<std::ptrdiff_t>((r + 1) * w));
      double m = 0, variance = 0, squares = 0;
      for (double v : row) m += v / width;
      for (double v : row) variance += (v - m) * (v - m) / width;
      for (double v : row) squares += v * v;
      for (std::size_t i = 0; i < w; ++i) {
        const double g = static_cast<double>(gain.values[i]), b = static_cast<double>(bias.values[i]);
        layer.push_back((row[i] - m) / std::sqrt(variance + 1e-3) * g + b);
        rms.push_back(row[i] / std::sqrt(squares / width + 1e-3) * g);
        unit.push_back(row[i] / std::sqrt(squares));
      }
    }
    INFO(width);
    const Tensor t = x.on(tape), g = gain.on(tape), b = bias.on(tape);
    CHECK(distance(read(layer_norm(t, g, &b, Real(1e-3))), layer) < 10 * rounding);
    CHECK(distance(read(rms_norm(t, g, Real(1e-3))), rms) < rounding);
    CHECK(distance(read(l2_normalize(t)), unit) < rounding);
  }
  CHECK(apply({0, 0, 0}, {3}, [](const Tensor& x) { return l2_normalize(x); }) == std::vector<Real>{0, 0, 0});
}

TEST_CASE("layer norm keeps its accuracy far from zero", "[value]") {
  // Row 1000 + {0, 1, 2, 3}: in float, mean(x^2) - mean(x)^2 would lose the variance.
  const auto y = apply({1000, 1001, 1002, 1003}, {4}, [](const Tensor& x) {
    Tensor gain = x.tape->make({4});
    for (int i = 0; i < 4; ++i) gain.data[i] = 1;
    return layer_norm(x, gain, nullptr, 0);
  });
  const double s = std::sqrt(1.25);
  CHECK(distance(y, std::vector<double>{-1.5 / s, -0.5 / s, 0.5 / s, 1.5 / s}) < rounding);
}

TEST_CASE("cross-entropy ignores, smooths and divides as it says", "[value]") {
  for (int classes : {2, 7, 16, 33}) {
    const std::vector<std::int32_t> targets = {0, classes - 1, -1, 1};
    for (double smoothing : {0.0, 0.3})
      for (double divisor : {0.0, 12.0}) {
        Tape tape;
        Operand x({2, 2, classes}, 1, {-20, 20});
        double total = 0;
        for (std::size_t r = 0; r < 4; ++r) {
          if (targets[r] < 0) continue;
          const Real* row = x.values.data() + r * static_cast<std::size_t>(classes);
          double normaliser = 0;
          for (int c = 0; c < classes; ++c) normaliser += std::exp(static_cast<double>(row[c]));
          for (int c = 0; c < classes; ++c) {
            const double share = (c == targets[r] ? 1 - smoothing : 0) + smoothing / classes;
            total -= share * (static_cast<double>(row[c]) - std::log(normaliser));
          }
        }
        const CrossEntropyOptions options{.label_smoothing = static_cast<Real>(smoothing),
                                          .divisor = static_cast<Real>(divisor)};
        const Tensor loss = cross_entropy(x.on(tape), targets.data(), options);
        INFO(classes << " classes, smoothing " << smoothing << ", divisor " << divisor);
        CHECK(loss.shape == Shape{});
        CHECK(distance(read(loss), std::vector<double>{total / (divisor > 0 ? divisor : 3)}) < 4 * rounding);
      }
  }
}

TEST_CASE("a batch's loss is the sum of its shards' losses over the batch's count", "[value]") {
  Tape tape;
  const std::int32_t targets[] = {1, 2, -1, 0, 4};
  Operand x({5, 6}, 1);
  const Tensor t = x.on(tape);
  const Tensor whole = cross_entropy(t, targets);
  const Tensor parts = add(cross_entropy(slice(t, 0, 0, 2), targets, {.divisor = 4}),
                           cross_entropy(slice(t, 0, 2, 3), targets + 2, {.divisor = 4}));
  CHECK(distance(read(parts), read(whole)) < rounding);
}

TEST_CASE("cross-entropy where no row counts is zero, with a zero gradient", "[value]") {
  Tape tape;
  const std::int32_t targets[] = {-1, -1};
  Operand x({2, 3}, 1);
  const Tensor loss = cross_entropy(x.on(tape), targets);
  tape.backward(loss);
  CHECK(loss.item() == 0);
  CHECK(x.gradient == std::vector<Real>(6, 0));
}
