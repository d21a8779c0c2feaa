// Compares the values of the operations with plain loops in double, and broadcasting with xtensor's.
#include "autograd/xtensor.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"

#include <limits>
#include <xtensor/xmath.hpp>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

std::vector<double> list(const xt::xarray<double>& x) { return {x.begin(), x.end()}; }

Real apply_one(Real value, Tensor (*f)(const Tensor&)) { return apply({value}, {}, f)[0]; }

} // namespace

TEST_CASE("elementwise functions equal the C++ library's, at every length and for every view", "[value]") {
  struct Case {
    Tensor (*function)(const Tensor&);
    double (*expected)(double);
    Domain domain;
  };
  const auto approximate = [](double v) {
    return v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
  };
  const auto sigma = [](double v) { return 1 / (1 + std::exp(-v)); };
  for (const Case& c : std::vector<Case>{
           {exp, [](double v) { return std::exp(v); }, {-10, 3}},
           {log, [](double v) { return std::log(v); }, {0.01, 20}},
           {tanh, [](double v) { return std::tanh(v); }, {-10, 10}},
           {sigmoid, sigma, {-20, 20}},
           {heed::HEED_REAL::abs, [](double v) { return std::fabs(v); }, {}},
           {relu, [](double v) { return v > 0 ? v : 0; }, {}},
           {gelu, [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2))); }, {-8, 8}},
           {gelu_tanh, approximate, {-8, 8}},
           {silu, [](double v) { return v / (1 + std::exp(-v)); }, {-20, 20}},
           {relu_squared, [](double v) { return v > 0 ? v * v : 0; }, {-3, 3}},
           {contiguous, [](double v) { return v; }, {}},
       })
    for (const Shape& shape : std::vector<Shape>{{}, {1}, {3}, {7}, {17}, {33}, {3, 5, 7}, {0, 2}})
      for (const View& view : views()) {
        if (!view.fits(shape)) continue;
        Tape tape;
        Operand x(view.of(shape), 1, c.domain);
        const Tensor seen = view.take(x.on(tape), shape);
        std::vector<double> expected;
        for (Real v : read(seen)) expected.push_back(c.expected(static_cast<double>(v)));
        INFO(shape.text() << " " << view.name);
        CHECK(distance(read(c.function(seen)), expected) < rounding);
      }
}

TEST_CASE("an activation behind a product is that of the product", "[value]") {
  const std::pair<Activation, Tensor (*)(const Tensor&)> pairs[] = {{Activation::relu, relu},
                                                                    {Activation::gelu, gelu},
                                                                    {Activation::gelu_tanh, gelu_tanh},
                                                                    {Activation::silu, silu},
                                                                    {Activation::relu_squared, relu_squared}};
  for (const auto& [f, function] : pairs) {
    Tape tape;
    // more than one block along k; the width includes a partial SIMD vector
    Operand x({9, 300}, 1), w({70, 300}, 2), bias({70}, 3);
    const Tensor b = bias.on(tape);
    const Tensor apart = function(linear(x.on(tape), w.on(tape), b));
    CHECK(distance(read(linear_activation(x.on(tape), w.on(tape), &b, f)), read(apart)) < rounding);
  }
}

TEST_CASE("elementwise functions keep what is not finite and saturate without overflow", "[value]") {
  for (auto f :
       {exp, log, tanh, sigmoid, heed::HEED_REAL::abs, relu, gelu, gelu_tanh, silu, relu_squared, elu_plus_one})
    CHECK(std::isnan(apply_one(not_a_number, f)));
  CHECK(apply_one(0, log) == -infinity);
  CHECK(std::isnan(apply_one(-1, log)));
  CHECK(apply_one(1000, exp) == infinity);
  CHECK(apply_one(-1000, exp) == 0);
  CHECK(apply_one(1000, tanh) == 1);
  CHECK(apply_one(-1000, tanh) == -1);
  CHECK(apply_one(1000, sigmoid) == 1);
  CHECK(apply_one(-1000, sigmoid) == 0);
  CHECK(apply_one(1000, relu_squared) == 1e6);
  CHECK(apply_one(-1000, relu_squared) == 0);
  for (auto f : {gelu, gelu_tanh, silu, relu}) {
    CHECK(apply_one(1000, f) == 1000);
    CHECK(apply_one(-1000, f) == 0);
    CHECK(apply_one(0, f) == 0);
  }
}

TEST_CASE("a linear map of one vector is that of a row", "[value]") {
  Operand x({3}, {1, 2, 3}), w({2, 3}, {1, 0, -1, 4, 5, 6}), bias({2}, {10, 20});
  Tape tape;
  const Tensor y = linear(x.on(tape), w.on(tape), bias.on(tape));
  CHECK(y.shape == Shape{2});
  CHECK(read(y) == std::vector<Real>{8, 52});
  tape.backward(sum(y));
  CHECK(x.gradient == std::vector<Real>{5, 5, 5});
  CHECK(w.gradient == std::vector<Real>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("arithmetic broadcasts as xtensor does", "[value]") {
  // clang-format off
  for (const auto& [left, right] : std::vector<std::pair<Shape, Shape>>{
           {{}, {}}, {{3}, {}}, {{}, {17}}, {{7}, {1}}, {{2, 3}, {3}}, {{3}, {2, 3}}, {{2, 1}, {1, 33}},
           {{2, 17}, {2, 1}},
           {{4, 1, 3}, {2, 1}}, {{2, 3, 1, 4}, {1, 3, 2, 1}}, {{2, 3, 2, 3}, {2, 3, 2, 3}}, {{2, 0}, {2, 1}}}) {
    // clang-format on
    INFO(left.text() << " " << right.text());
    Tape tape;
    Operand x(left, 1), y(right, 2, {0.5, 2});
    const Tensor s = x.on(tape), t = y.on(tape);
    const xt::xarray<double> a = value(s), b = value(t);
    CHECK(distance(read(add(s, t)), list(a + b)) < rounding);
    CHECK(distance(read(sub(s, t)), list(a - b)) < rounding);
    CHECK(distance(read(mul(s, t)), list(a * b)) < rounding);
    CHECK(distance(read(div(s, t)), list(a / b)) < rounding);
    Shape expected;
    CHECK(broadcast(left, right, expected));
    CHECK(add(s, t).shape == expected);
  }
}

TEST_CASE("division by zero gives what IEEE 754 gives", "[value]") {
  Tape tape;
  Operand x({3}, {1, -1, 0}), zero({}, std::vector<Real>{0});
  const std::vector<Real> y = read(div(x.on(tape), zero.on(tape)));
  CHECK(y[0] == infinity);
  CHECK(y[1] == -infinity);
  CHECK(std::isnan(y[2]));
}

TEST_CASE("matmul equals three loops, for every pair of views", "[value]") {
  const auto check = [](const Shape& left, const View& v, const Shape& right, const View& w) {
    Tape tape;
    Operand x(v.of(left), 1), y(w.of(right), 2);
    const Tensor a = v.take(x.on(tape), left), b = w.take(y.on(tape), right);
    const std::vector<Real> p = read(a), q = read(b);
    const std::int64_t m = left[-2], k = left[-1], n = right[-1];
    std::int64_t products = 1;
    for (int i = 0; i + 2 < std::max(left.rank, right.rank); ++i) products *= (left.rank > 2 ? left : right)[i];
    const auto number = [](const std::vector<Real>& of, std::int64_t i) {
      return static_cast<double>(of[static_cast<std::size_t>(i)]);
    };
    std::vector<double> expected;
    for (std::int64_t c = 0; c < products; ++c)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double total = 0;
          for (std::int64_t l = 0; l < k; ++l)
            total += number(p, ((left.rank == 2 ? 0 : c) * m + i) * k + l) *
                     number(q, ((right.rank == 2 ? 0 : c) * k + l) * n + j);
          expected.push_back(total);
        }
    INFO(left.text() << ", " << v.name << ", by " << right.text() << ", " << w.name);
    CHECK(distance(read(matmul(a, b)), expected) < 10 * rounding);
  };
  // clang-format off
  for (const auto& [left, right] : std::vector<std::pair<Shape, Shape>>{
           {{1, 1}, {1, 1}}, {{1, 7}, {7, 3}}, {{3, 1}, {1, 7}}, {{17, 33}, {33, 1}}, {{2, 0}, {0, 3}},
           {{2, 3, 4}, {2, 4, 5}}, {{2, 3, 4}, {4, 5}}, {{3, 4}, {2, 4, 5}}, {{2, 2, 3, 7}, {2, 2, 7, 3}}})
    // clang-format on
    for (const View& v : views())
      for (const View& w : views())
        if (v.fits(left) && w.fits(right)) check(left, v, right, w);
}

TEST_CASE("reductions equal xtensor's over every axis", "[value]") {
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{33}, Shape{3, 17}, Shape{2, 3, 4}, Shape{2, 1, 3, 5}}) {
    Tape tape;
    Operand x(shape, 1);
    const Tensor t = x.on(tape);
    const xt::xarray<double> a = value(t);
    CHECK(distance(read(sum(t)), list(xt::sum(a))) < rounding);
    CHECK(distance(read(mean(t)), list(xt::mean(a))) < rounding);
    for (int axis = 0; axis < shape.rank; ++axis)
      for (bool keep : {false, true}) {
        INFO(shape.text() << " axis " << axis);
        const auto at = static_cast<std::size_t>(axis);
        CHECK(distance(read(sum(t, axis, keep)), list(xt::sum(a, {at}))) < rounding);
        CHECK(distance(read(mean(t, axis - shape.rank, keep)), list(xt::mean(a, {at}))) < rounding);
        CHECK(distance(read(max(t, axis, keep)), list(xt::amax(a, {at}))) == 0);
        Shape expected;
        for (int i = 0; i < shape.rank; ++i)
          if (i != axis || keep) expected.push_back(i == axis ? 1 : shape[i]);
        CHECK(sum(t, axis, keep).shape == expected);
        CHECK(max(t, axis, keep).shape == expected);
      }
  }
  CHECK(apply({}, {0}, [](const Tensor& x) { return sum(x); })[0] == 0);
  CHECK(std::isnan(apply({1, not_a_number, 3}, {3}, [](const Tensor& x) { return max(x, 0); })[0]));
}

TEST_CASE("sum_before sums what is before each entry, and elu_plus_one is x + 1 or exp(x)", "[value]") {
  Tape tape;
  for (const int axis : {0, 1, -1}) {
    Operand o({3, 4, 19}, 5, {-2, 2});
    const std::int64_t n = axis == 0 ? 3 : axis == 1 ? 4 : 19, inner = axis == 0 ? 76 : axis == 1 ? 19 : 1;
    std::vector<double> expected;
    for (std::int64_t at = 0; at < 3 * 4 * 19; ++at) {
      double total = 0;
      for (std::int64_t back = 1; back <= at / inner % n; ++back)
        total += static_cast<double>(o.values[static_cast<std::size_t>(at - back * inner)]);
      expected.push_back(total);
    }
    CHECK(distance(read(sum_before(o.on(tape), axis)), expected) < 20 * rounding);
  }
  Operand x({41}, 6, {-8, 8});
  std::vector<double> expected;
  for (const Real v : x.values)
    expected.push_back(v > 0 ? 1 + static_cast<double>(v) : std::exp(static_cast<double>(v)));
  CHECK(distance(read(elu_plus_one(x.on(tape))), expected) < 4 * rounding);
}

TEST_CASE("the gradient of max goes to the first of equals", "[value]") {
  Tape tape;
  Operand x({2, 3}, {1, 5, 5, 2, 2, 2});
  tape.backward(sum(max(x.on(tape), 1)));
  CHECK(x.gradient == std::vector<Real>{0, 1, 0, 1, 0, 0});
}
