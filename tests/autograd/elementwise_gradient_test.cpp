// Gradients of arithmetic and of elementwise functions, compared with finite differences in double precision.
#include "tests/autograd/gradients.hpp"

#include <limits>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// Ranks 0 to 4; sizes below one SIMD vector, whole numbers of vectors, vectors and a remainder; empty tensors.
const std::vector<Shape> shapes = {{},   {1},    {3},       {7},          {17}, {33},
                                   {16}, {2, 3}, {3, 1, 5}, {2, 3, 2, 3}, {0},  {2, 0, 3}};

struct Unary {
  const char* name;
  Domain domain; // where the function is smooth
  Tensor (*function)(const Tensor&);
};

const std::vector<Unary> functions = {
    {"exp", {-3, 3}, [](const Tensor& x) { return exp(x); }},
    {"log", {0.2, 4}, [](const Tensor& x) { return log(x); }},
    {"tanh", {-4, 4}, [](const Tensor& x) { return tanh(x); }},
    {"sigmoid", {-6, 6}, [](const Tensor& x) { return sigmoid(x); }},
    {"log_sigmoid", {-6, 6}, [](const Tensor& x) { return log_sigmoid(x); }},
    {"abs", {-2, 2, 0.1}, [](const Tensor& x) { return abs(x); }},
    {"relu", {-2, 2, 0.1}, [](const Tensor& x) { return relu(x); }},
    {"gelu", {-5, 5}, [](const Tensor& x) { return gelu(x); }},
    {"elu_plus_one", {-5, 5}, [](const Tensor& x) { return elu_plus_one(x); }},
    {"gelu_tanh", {-5, 5}, [](const Tensor& x) { return gelu_tanh(x); }},
    {"silu", {-6, 6}, [](const Tensor& x) { return silu(x); }},
    {"relu_squared", {-6, 6}, [](const Tensor& x) { return relu_squared(x); }},
    {"scale", {-2, 2}, [](const Tensor& x) { return scale(x, Real(-1.75), Real(0.5)); }},
    {"finite_or_zero", {-2, 2}, [](const Tensor& x) { return finite_or_zero(x); }},
    {"contiguous", {-2, 2}, [](const Tensor& x) { return contiguous(x); }},
};

struct Binary {
  const char* name;
  Domain left, right;
  Tensor (*function)(const Tensor&, const Tensor&);
};

const std::vector<Binary> pairs = {
    {"add", {}, {}, [](const Tensor& x, const Tensor& y) { return add(x, y); }},
    {"sub", {}, {}, [](const Tensor& x, const Tensor& y) { return sub(x, y); }},
    {"mul", {}, {}, [](const Tensor& x, const Tensor& y) { return mul(x, y); }},
    {"div", {}, {-2, 2, 0.5}, [](const Tensor& x, const Tensor& y) { return div(x, y); }},
};

// All ways in which an axis can be missing, broadcast or equal, on both sides.
// clang-format off
const std::vector<std::pair<Shape, Shape>> broadcasts = {
    {{}, {}},           {{3}, {}},          {{}, {3}},          {{1}, {}},       {{7}, {7}},
    {{17}, {1}},        {{1}, {17}},        {{33}, {33}},       {{2, 3}, {3}},   {{3}, {2, 3}},
    {{2, 3}, {2, 1}},   {{2, 1}, {2, 3}},   {{2, 1}, {1, 3}},   {{2, 17}, {17}}, {{2, 17}, {2, 1}},
    {{2, 3, 5}, {3, 1}}, {{4, 1, 3}, {2, 1}}, {{2, 3, 1, 4}, {1, 3, 2, 1}}, {{2, 3, 2, 3}, {}},
    {{2, 3, 2, 3}, {2, 3, 2, 3}},
    {{0}, {0}},         {{0}, {1}},         {{2, 0}, {2, 1}},   {{2, 1, 3}, {0, 1}}};
// clang-format on

} // namespace

TEST_CASE("every elementwise function has the gradient that differences show, for every view", "[gradient]") {
  for (const Unary& f : functions)
    for (const Shape& shape : shapes) check_views(f.name, shape, f.domain, f.function);
}

TEST_CASE("arithmetic has the right gradient under every broadcast", "[gradient]") {
  for (const Binary& f : pairs)
    for (const auto& [left, right] : broadcasts)
      check_gradient(std::string(f.name) + " of " + left.text() + " and " + right.text(),
                     [&](const Tensors& x) { return f.function(x[0], x[1]); },
                     {input(left, 1, f.left), input(right, 2, f.right)});
}

TEST_CASE("arithmetic has the right gradient for every pair of views", "[gradient]") {
  const std::vector<std::pair<Shape, Shape>> shape_pairs = {{{2, 3, 4}, {2, 3, 4}}, {{2, 3, 4}, {3, 1}}, {{3}, {2, 3}}};
  for (const Binary& f : pairs)
    for (const auto& [left, right] : shape_pairs)
      for (const View& v : views())
        for (const View& w : views())
          if (v.fits(left) && w.fits(right))
            check_view_pair(f.name, {left, v, f.left}, {right, w, f.right}, f.function);
}

TEST_CASE("arithmetic has the right gradient where both operands share memory", "[gradient]") {
  for (const Binary& f : pairs) {
    const Domain& domain = f.right;
    check_gradient(std::string(f.name) + " of a tensor and itself",
                   [&](const Tensors& x) { return f.function(x[0], x[0]); }, {input({2, 5}, 1, domain)});
    check_gradient(std::string(f.name) + " of a matrix and its transpose",
                   [&](const Tensors& x) { return f.function(x[0], transpose(x[0])); }, {input({5, 5}, 1, domain)});
    check_gradient(std::string(f.name) + " of overlapping parts",
                   [&](const Tensors& x) { return f.function(slice(x[0], 0, 0, 5), slice(x[0], 0, 2, 5)); },
                   {input({7}, 1, domain)});
    check_gradient(std::string(f.name) + " of a tensor and one row of it",
                   [&](const Tensors& x) { return f.function(x[0], slice(x[0], 0, 1, 1)); },
                   {input({3, 4}, 1, domain)});
    check_gradient(std::string(f.name) + " of one row of a tensor and the tensor",
                   [&](const Tensors& x) { return f.function(slice(x[0], 0, 1, 1), x[0]); },
                   {input({3, 4}, 1, domain)});
  }
}

TEST_CASE("the gradients of relu and abs at zero are zero", "[gradient]") {
  Tape tape;
  Operand x({3}, {0, -1, 1});
  tape.backward(sum(relu(x.on(tape))));
  CHECK(x.gradient == std::vector<Real>{0, 0, 1});
  Operand z({3}, {0, -1, 1});
  tape.backward(sum(abs(z.on(tape))));
  CHECK(z.gradient == std::vector<Real>{0, -1, 1});
}

TEST_CASE("numbers that are not finite become 0, without a gradient", "[gradient]") {
  const Real infinity = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  Tape tape;
  Operand x({2, 4}, {nan, 2, infinity, -3, -infinity, nan, 5, 0});
  const Tensor y = finite_or_zero(x.on(tape));
  CHECK(read(y) == std::vector<Real>{0, 2, 0, -3, 0, 0, 5, 0});
  tape.backward(sum(y));
  CHECK(x.gradient == std::vector<Real>{0, 1, 0, 1, 0, 0, 1, 1});
}
