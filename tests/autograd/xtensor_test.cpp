// Tests of the xtensor interface: views read and write tensors, and a view that outlives its step is refused.
#include "autograd/xtensor.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>
#include <xtensor-blas/xlinalg.hpp>
#include <xtensor/xadapt.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

using namespace heed;
using namespace heed::HEED_REAL;
using Catch::StartsWith;

namespace {

using Array = xt::xarray<Real>;

template <class E> std::vector<Real> list_of(const E& e) {
  const Array numbers = e;
  return {numbers.begin(), numbers.end()};
}

template <class E> bool shaped(const E& e, const Shape& shape) {
  return std::equal(e.shape().begin(), e.shape().end(), shape.extent.begin(), shape.extent.begin() + shape.rank);
}

constexpr double view_tolerance = 100 * rounding;

// Takes arrays, so that xt::allclose is compiled once and not for each pair of expressions.
bool close(const Array& a, const Array& b) { return xt::allclose(a, b, view_tolerance, view_tolerance); }

// Catch2's expressions and xtensor's operators conflict, so the tests compare in functions.
template <class A> bool same(const A& a, const Array& b) { return Array(a) == b; }

template <class A> const Real* address(const A& view) { return &*view.begin(); }

} // namespace

// An unchecked view reads through a plain pointer.
static_assert(std::is_same_v<TensorView<const Real, false>::const_container_iterator, const Real*>);
static_assert(std::is_same_v<decltype(value(Tensor{})), TensorView<const Real, HEED_CHECK_VIEWS>>);
// Values are const, even those of a Tensor that is not const.
static_assert(std::is_same_v<decltype(value(Tensor{})(0)), const Real&>);

namespace {

template <bool checked> void check_shown() {
  for (const Shape& shape : std::vector<Shape>{{}, {1}, {7}, {1, 3}, {3, 1}, {3, 5}, {3, 5, 7}, {2, 1, 3, 2}, {0, 2}})
    for (const View& view : views()) {
      if (!view.fits(shape)) continue;
      INFO(shape.text() << " " << view.name);
      Tape tape;
      Operand x(view.of(shape), 1);
      const Tensor seen = view.take(x.on(tape), shape);
      const auto shown = value<checked>(seen);
      CHECK(shaped(shown, shape));
      if (shape.size() > 0) CHECK(address(shown) == seen.data);
      CHECK(list_of(shown) == read(seen));
      CHECK(list_of(shown + Real(0) * shown) == read(seen)); // computed element by element
      CHECK(std::vector<Real>(shown.begin(), shown.end()) == read(seen));
      // Assignment to memory with the same strides.
      Array target = xt::zeros<Real>(shown.shape());
      xt::noalias(target) = shown;
      CHECK(list_of(target) == read(seen));
    }
}

} // namespace

TEST_CASE("a view shows a tensor's numbers without a copy, however it is strided", "[xtensor]") {
  check_shown<true>();
  check_shown<false>();
}

TEST_CASE("a view's numbers are those that the tensor has now", "[xtensor]") {
  Tape tape;
  Operand x({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor t = x.on(tape);
  const auto view = value(t);
  x.values[4] = 50;
  CHECK(view(1, 1) == 50);
  CHECK(value(transpose(t))(1, 1) == 50);
}

TEST_CASE("views stand in xtensor's expressions", "[xtensor]") {
  Tape tape;
  Operand x({3, 4}, 1), y({4, 3}, 2);
  const Tensor s = x.on(tape), t = transpose(y.on(tape)), part = slice(s, 1, 1, 2);
  const Array a = xt::adapt(x.values, {3, 4}), b = xt::transpose(Array(xt::adapt(y.values, {4, 3})));
  CHECK(close(value(add(s, t)), a + b));
  CHECK(close(value(s) * 2 - value(t), a * 2 - b));
  CHECK(close(xt::sum(value(t)), xt::sum(b)));
  CHECK(close(xt::mean(value(t), {0}), value(mean(t, 0))));
  CHECK(close(xt::amax(value(part), {1}), xt::amax(xt::view(a, xt::all(), xt::range(1, 3)), {1})));
  CHECK(close(xt::view(value(t), 1, xt::range(1, 3)), xt::view(b, 1, xt::range(1, 3))));
  CHECK(close(xt::linalg::dot(value(s), value(transpose(t))), value(matmul(s, transpose(t)))));
  CHECK(close(xt::linalg::dot(value(t), xt::transpose(a)), value(matmul(t, transpose(s)))));
  CHECK(xt::argmax(value(t))() == xt::argmax(b)());
  CHECK_FALSE(xt::allclose(value(s), value(t)));
}

namespace {

template <bool checked> void check_written() {
  Tape tape;
  Array w = {{1, 2, 3}, {4, 5, 6}}, derivative = xt::zeros_like(w);
  const Tensor x = leaf(tape, w, derivative);
  writable_value<checked>(x)(0, 1) = 20;
  CHECK(same(w, Array{{1, 20, 3}, {4, 5, 6}}));
  writable_value<checked>(transpose(x)) *= 2;
  CHECK(same(w, Array{{2, 40, 6}, {8, 10, 12}}));
  writable_value<checked>(slice(x, 1, 1, 2)) = Array{-1, -2}; // broadcast; the first column is unchanged
  CHECK(same(w, Array{{2, -1, -2}, {8, -1, -2}}));
  writable_value<checked>(transpose(x)) = Array{{1, 4}, {2, 5}, {3, 6}};
  CHECK(same(w, Array{{1, 2, 3}, {4, 5, 6}}));
  auto second = writable_value<checked>(slice(x, 0, 1, 1));
  xt::noalias(second) = 2 * value<checked>(slice(x, 0, 0, 1));
  CHECK(same(w, Array{{1, 2, 3}, {2, 4, 6}}));
  // The view's own values in another order: nothing is read after it was written.
  auto column = writable_value<checked>(slice(x, 1, 0, 1));
  column = xt::view(column, xt::keep(1, 0));
  CHECK(same(w, Array{{2, 2, 3}, {1, 4, 6}}));
  CHECK(close(value<checked>(sum(x)), xt::sum(w)));
  writable_value<checked>(x) = 7;
  CHECK(same(w, 7 * xt::ones<Real>({2, 3})));
  CHECK_THROWS(writable_value<checked>(x) = xt::ones<Real>({2, 2}));
}

} // namespace

TEST_CASE("what is written to a leaf's view is the leaf's", "[xtensor]") {
  check_written<true>();
  check_written<false>();
}

TEST_CASE("only leaves are written to, and only leaves have gradients to see", "[xtensor]") {
  Tape tape;
  const Tensor x = leaf(tape, Array{1, 2, 3}), c = constant(tape, Array{1, 2, 3}), y = mul(x, c);
  CHECK_THROWS_WITH(writable_value(y), "[value] only a leaf's value can be written to");
  CHECK_THROWS_WITH(writable_value(c), "[value] only a leaf's value can be written to");
  CHECK_THROWS_WITH(gradient(x), StartsWith("[gradient] there is none"));
  tape.backward(sum(y));
  CHECK_NOTHROW(gradient(x));
  CHECK_THROWS_WITH(gradient(y), "[gradient] the tensor is no leaf, and only leaves keep a gradient");
  CHECK_THROWS_WITH(gradient(c), StartsWith("[gradient] the tensor is no leaf"));
  CHECK_THROWS_WITH(gradient(leaf(tape, Array{1})), StartsWith("[gradient] there is none"));
  CHECK_THROWS_WITH(value(Tensor{}), "[value] the tensor is empty");
  CHECK_THROWS_WITH(gradient(Tensor{}), "[gradient] the tensor is empty");
}

TEST_CASE("gradients seen after backward are the closed form's", "[xtensor]") {
  // The mean squared error of a linear map; its gradient by w is 2/n (x w^T - y)^T x.
  Operand inputs({5, 3}, 1), weights({2, 3}, 2), wanted({5, 2}, 3);
  const Array x = xt::adapt(inputs.values, {5, 3}), y = xt::adapt(wanted.values, {5, 2});
  Array w = xt::adapt(weights.values, {2, 3}), derivative = xt::empty_like(w);
  Tape tape;
  for (int step = 0; step < 3; ++step) {
    tape.rewind();
    const Tensor leaf_w = leaf(tape, w, derivative), leaf_x = leaf(tape, x);
    const Tensor error = sub(linear(leaf_x, leaf_w), constant(tape, y));
    tape.backward(mean(mul(error, error)));
    const Array e = xt::linalg::dot(x, xt::transpose(w)) - y;
    const Array by_w = xt::linalg::dot(xt::transpose(e), x) / Real(5), by_x = xt::linalg::dot(e, w) / Real(5);
    CHECK(close(value(error), e));
    CHECK(close(derivative, by_w));
    CHECK(close(gradient(leaf_w), by_w));
    CHECK(address(gradient(leaf_w)) == derivative.data());
    CHECK(close(gradient(leaf_x), by_x));
    CHECK(close(gradient(transpose(leaf_w)), xt::transpose(by_w)));
    CHECK(close(gradient(slice(leaf_x, 0, 1, 3)), xt::view(by_x, xt::range(1, 4))));
    writable_value(leaf_w) -= Real(0.1) * gradient(leaf_w);
    CHECK(close(w, Array(value(leaf_w))));
  }
}

TEST_CASE("any expression becomes a constant or a leaf", "[xtensor]") {
  Tape tape;
  const auto check = [&](const auto& e, const Shape& shape, const std::vector<Real>& numbers) {
    for (const Tensor& x : {constant(tape, e), leaf(tape, e)}) {
      CHECK(x.shape == shape);
      CHECK(x.contiguous());
      CHECK(read(x) == numbers);
    }
  };
  check(Array{{1, 2}, {3, 4}}, {2, 2}, {1, 2, 3, 4});
  check(xt::xtensor<double, 2>{{1, 2}, {3, 4}}, {2, 2}, {1, 2, 3, 4});
  check(xt::xarray<int, xt::layout_type::column_major>{{1, 2}, {3, 4}}, {2, 2}, {1, 2, 3, 4});
  check(xt::arange<int>(3) * 2.5, {3}, {0, 2.5, 5});
  check(xt::xarray<float>{1, 2, 3} > 1.5F, {3}, {0, 1, 1});
  check(xt::ones<Real>({2, 1}) + Array{1, 2, 3}, {2, 3}, {2, 3, 4, 2, 3, 4});
  check(xt::transpose(Array{{1, 2, 3}, {4, 5, 6}}), {3, 2}, {1, 4, 2, 5, 3, 6});
  check(xt::sum(Array{1, 2, 3}), {}, {6});
  check(xt::zeros<Real>({0, 2}), {0, 2}, {});
  check(value(transpose(constant(tape, Array{{1, 2}, {3, 4}}))), {2, 2}, {1, 3, 2, 4});
  check(xt::ones<Real>({1, 1, 1, 1, 1, 2}), {1, 1, 1, 1, 1, 2}, {1, 1});
}

TEST_CASE("a constant is the step's, and wants no gradient", "[xtensor]") {
  Tape tape;
  Array numbers = {1, 2};
  const Tensor c = constant(tape, numbers);
  numbers.fill(9);
  CHECK(read(mul(c, c)) == std::vector<Real>{1, 4});
  CHECK(tape.nodes() == 0);
}

TEST_CASE("shapes and layouts that don't fit are refused", "[xtensor]") {
  Tape tape;
  const auto seven = xt::ones<Real>({1, 1, 1, 1, 1, 1, 2});
  CHECK_THROWS_WITH(constant(tape, seven), "[constant] the expression has 7 axes, and a tensor has at most 6");
  CHECK_THROWS_WITH(leaf(tape, seven), "[leaf] the expression has 7 axes, and a tensor has at most 6");
  Array w = xt::ones<Real>({2, 3}), flat = xt::zeros<Real>({6});
  CHECK_THROWS_WITH(leaf(tape, w, flat), "[leaf] the values are [2, 3], but the gradient is [6]");
  xt::xarray<Real, xt::layout_type::column_major> columns = w;
  CHECK_THROWS_WITH(leaf(tape, columns, w), StartsWith("[leaf] values and gradient must be row-major"));
  CHECK_THROWS_WITH(leaf(tape, w, columns), StartsWith("[leaf] values and gradient must be row-major"));
  const Tape::NestedTape aside(tape);
  CHECK_THROWS_WITH(leaf(tape, w), StartsWith("[leaf] a leaf that is made aside"));
}

TEST_CASE("parameters and their gradients are seen and set", "[xtensor]") {
  Parameters parameters;
  parameters.add("other", {5}, Init::constant(3));
  const ParameterId id = parameters.add("w", {2, 3}, Init::normal(1));
  parameters.initialise(0);
  const Array w = {{1, 2, 3}, {4, 5, 6}};
  value(parameters, id) = w;
  CHECK(std::vector<Real>(parameters.values(id), parameters.values(id) + 6) == std::vector<Real>{1, 2, 3, 4, 5, 6});
  CHECK(same(value(parameters, ParameterId{0}), Array{3, 3, 3, 3, 3}));
  std::vector<Real> gradients(static_cast<std::size_t>(parameters.extent()));
  Tape tape;
  const Tensor x = tape.leaf(parameters.values(id), gradients.data() + parameters[id].offset, {2, 3});
  tape.backward(sum(mul(x, x)));
  CHECK(same(gradient(parameters, id, gradients.data()), 2 * w));
}

namespace {

// Each function uses the values of a view in one way.
const std::vector<std::pair<std::string, void (*)(TensorView<const Real, true>&)>> uses = {
    {"an element", [](auto& v) { (void)v(0, 0); }},
    {"an element by a list",
     [](auto& v) {
       (void)v[{0, 0}];
     }},
    {"an iterator's", [](auto& v) { (void)*v.begin(); }},
    {"copied into an array", [](auto& v) { const Array a = v; }},
    {"assigned to an array",
     [](auto& v) {
       Array a = xt::zeros<Real>({2, 3});
       xt::noalias(a) = v;
     }},
    {"added up", [](auto& v) { (void)xt::sum(v)(); }},
    {"in an expression", [](auto& v) { const Array a = v * 2 + Real(1); }},
    {"compared",
     [](auto& v) {
       (void)xt::all(xt::isclose(v, xt::ones<Real>({2, 3})));
     }},
    {"multiplied",
     [](auto& v) {
       (void)xt::linalg::dot(v, xt::ones<Real>({3, 1}));
     }},
    {"a part of it", [](auto& v) { (void)xt::view(v, 1, xt::all())(0); }},
    {"made a constant", [](auto& v) {
       Tape other;
       constant(other, v);
     }}};

constexpr const char* refusal = "[view] the step is over: ";

void check_refused(const TensorView<const Real, true>& view) {
  for (const auto& [name, use] : uses) {
    INFO(name);
    TensorView<const Real, true> v = view;
    CHECK_THROWS_AS(use(v), Failed);
    CHECK_THROWS_WITH(use(v), StartsWith(refusal));
  }
  CHECK(view.shape(1) == 3); // stored in the view itself
}

void check_lasts(const TensorView<const Real, true>& view) {
  for (const auto& [name, use] : uses) {
    INFO(name);
    TensorView<const Real, true> v = view;
    CHECK_NOTHROW(use(v));
  }
}

} // namespace

TEST_CASE("a view that outlives its step is refused, whatever is done with it", "[xtensor]") {
  Tape tape;
  Array w = {{1, 2}, {3, 4}, {5, 6}}, derivative = xt::zeros_like(w);
  for (const bool strided : {false, true}) {
    INFO("strided: " << strided);
    const Tensor x = leaf(tape, w, derivative), t = transpose(x);
    const auto view = value<true>(strided ? t : contiguous(t));
    check_lasts(view);
    tape.backward(sum(x));
    check_lasts(view);
    tape.rewind();
    check_refused(view);
    // The next step does not make the view valid again.
    leaf(tape, w, derivative);
    check_refused(view);
    tape.rewind();
    check_refused(view);
  }
}

TEST_CASE("what was taken of a view before its step ended is refused, too", "[xtensor]") {
  Tape tape;
  Array w = {{1, 2, 3}, {4, 5, 6}}, derivative = xt::zeros_like(w);
  const Tensor x = leaf(tape, w, derivative);
  tape.backward(sum(mul(x, x)));
  auto writable = writable_value<true>(x), slope = gradient<true>(x);
  const auto view = value<true>(x);
  const auto first = view.begin();
  const auto twice = view * 2;
  const auto row = xt::view(view, 1, xt::all());
  const auto total = xt::sum(view, {0});
  CHECK(slope(1, 2) == 12);
  tape.rewind();
  CHECK_THROWS_WITH(*first, StartsWith(refusal));
  CHECK_THROWS_WITH(Array(twice), StartsWith(refusal));
  CHECK_THROWS_WITH(row(0), StartsWith(refusal));
  CHECK_THROWS_WITH(Array(total), StartsWith(refusal));
  CHECK_THROWS_WITH(slope(1, 2), StartsWith(refusal));
  CHECK_THROWS_WITH(writable(0, 0) = 9, StartsWith(refusal));
  CHECK_THROWS_WITH(writable = w + 1, StartsWith(refusal));
  CHECK_THROWS_WITH(writable = Real(1), StartsWith(refusal));
  CHECK_THROWS_WITH(writable *= 2, StartsWith(refusal));
  CHECK_THROWS_WITH(xt::noalias(writable) = w + 1, StartsWith(refusal));
  CHECK(same(w, Array{{1, 2, 3}, {4, 5, 6}}));
}

namespace {

// The standard error output of a child process that runs f and ends with a signal; empty if it ends otherwise.
template <class F> std::string last_words(const F& f) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    f();
    _exit(0);
  }
  ::close(ends[1]);
  std::string out;
  std::array<char, 256> some;
  for (ssize_t n; (n = ::read(ends[0], some.data(), some.size())) > 0;)
    out.append(some.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? out : "";
}

} // namespace

TEST_CASE("a view that outlives its step ends xt::allclose, which can't throw, with the reason", "[xtensor]") {
  Tape tape;
  const auto view = value<true>(constant(tape, Array{1, 2}));
  CHECK(last_words([&] { (void)xt::allclose(view, Array{1, 2}); }).empty());
  tape.rewind();
  CHECK_THAT(last_words([&] { (void)xt::allclose(view, Array{1, 2}); }), Catch::Contains(refusal));
}

TEST_CASE("a view that outlives its tape is refused", "[xtensor]") {
  std::optional<TensorView<const Real, true>> view;
  {
    Tape tape;
    view.emplace(value<true>(constant(tape, Array{{1, 2, 3}, {4, 5, 6}})));
    check_lasts(*view);
  }
  check_refused(*view);
}

TEST_CASE("a view of what was made aside is refused once the next is made", "[xtensor]") {
  Tape tape;
  const Array numbers = {{1, 2, 3}, {4, 5, 6}};
  const auto outside = value<true>(constant(tape, numbers));
  std::optional<TensorView<const Real, true>> view;
  {
    const Tape::NestedTape aside(tape);
    view.emplace(value<true>(constant(tape, numbers)));
    check_lasts(*view);
  }
  const Tape::NestedTape next(tape);
  check_refused(*view);
  check_lasts(outside);
}
