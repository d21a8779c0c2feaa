// Gradients of products, reductions, row functions, shape operations, losses and dropout, compared with finite
// differences in double.
#include "autograd/attention.hpp"
#include "tests/autograd/gradients.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

const std::vector<int> widths = {1, 3, 7, 8, 17, 33};

// Values whose order is not changed by the small step of a finite difference.
std::vector<Real> apart(std::int64_t n) {
  std::vector<Real> out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(static_cast<Real>((i * 37) % 101) / Real{20} - Real{2});
  return out;
}

// Checks the gradient for every view of each operand.
void check_view_pairs(const std::string& what, const Shape& left, const Shape& right,
                      const std::function<Tensor(const Tensor&, const Tensor&)>& function) {
  for (const View& v : views())
    for (const View& w : views())
      if (v.fits(left) && w.fits(right)) check_view_pair(what, {left, v}, {right, w}, function);
}

} // namespace

TEST_CASE("matmul has the right gradient", "[gradient]") {
  const auto product = [](const Tensor& a, const Tensor& b) { return matmul(a, b); };
  for (const auto& [m, k, n] : {std::array{1, 1, 1}, {1, 3, 7}, {7, 1, 3}, {3, 7, 1}, {17, 3, 2}, {2, 17, 3}})
    check_view_pairs("matmul", {m, k}, {k, n}, product);
  check_view_pairs("matmul", {2, 3, 4}, {2, 4, 5}, product);
  check_view_pairs("matmul", {2, 3, 4}, {4, 5}, product);
  check_view_pairs("matmul", {3, 4}, {2, 4, 5}, product);
  check_view_pairs("matmul", {2, 2, 3, 4}, {2, 2, 4, 3}, product);
  check_gradient("matmul over an axis of 0 entries", [](const Tensors& x) { return matmul(x[0], x[1]); },
                 {input({2, 0}, 1), input({0, 3}, 2)});
  check_gradient("matmul of no rows", [](const Tensors& x) { return matmul(x[0], x[1]); },
                 {input({0, 4}, 1), input({4, 3}, 2)});
}

TEST_CASE("matmul of a tensor with itself has the right gradient", "[gradient]") {
  check_gradient("x x", [](const Tensors& x) { return matmul(x[0], x[0]); }, {input({3, 3}, 1)});
  check_gradient("x x^T", [](const Tensors& x) { return matmul(x[0], transpose(x[0])); }, {input({2, 3, 4}, 1)});
  check_gradient("parts of one tensor",
                 [](const Tensors& x) { return matmul(slice(x[0], -1, 0, 3), transpose(slice(x[0], -1, 2, 3))); },
                 {input({2, 4, 5}, 1)});
}

TEST_CASE("difference_of_maps has the right gradient for each broadcast lambda", "[gradient]") {
  const auto difference = [](const Tensor& x, const Tensor& lambda) { return difference_of_maps(x, lambda); };
  for (const Shape& lambda : {Shape{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 3, 1}, {2, 2, 3, 1}})
    check_view_pairs("difference_of_maps", {2, 4, 3, 5}, lambda, difference);
  check_gradient("of one tensor",
                 [](const Tensors& x) { return difference_of_maps(x[0], slice(slice(x[0], 1, 0, 1), -1, 0, 1)); },
                 {input({1, 2, 3, 2}, 1)});
}

TEST_CASE("queries, keys and values split from one projection have the right gradient", "[gradient]") {
  // [B, T, 3 H D] viewed as three tensors [B, H, T, D], as in self attention.
  check_gradient("attention",
                 [](const Tensors& x) {
                   const auto heads = [&](int part) {
                     return transpose(reshape(slice(x[0], -1, 6 * part, 6), {2, 4, 2, 3}), 1, 2);
                   };
                   const Tensor weights = masked_softmax(matmul(heads(0), transpose(heads(1))), {.causal = true});
                   return reshape(transpose(matmul(weights, heads(2)), 1, 2), {2, 4, 6});
                 },
                 {input({2, 4, 18}, 1)});
}

TEST_CASE("linear has the right gradient", "[gradient]") {
  for (const Shape& shape : {Shape{3}, Shape{2, 3}, Shape{2, 2, 7}, Shape{2, 1, 2, 17}, Shape{0, 3}, Shape{33, 1}})
    for (int outputs : {1, 5, 17}) {
      const Shape w{outputs, shape[-1]}, b{outputs};
      for (const View& v : views())
        if (v.fits(shape)) {
          check_gradient("linear of " + shape.text() + ", " + v.name,
                         [&](const Tensors& x) { return linear(v.take(x[0], shape), x[1], x[2]); },
                         {input(v.of(shape), 1), input(w, 2), input(b, 3)});
        }
      for (const View& v : views())
        if (v.fits(w))
          check_gradient("linear with w " + v.name, [&](const Tensors& x) { return linear(x[0], v.take(x[1], w)); },
                         {input(shape, 1), input(v.of(w), 2)});
    }
  check_gradient("linear with its bias a part of a vector",
                 [](const Tensors& x) { return linear(x[0], x[1], slice(x[2], 0, 1, 3)); },
                 {input({2, 5}, 1), input({3, 5}, 2), input({5}, 3)});
  for (const Activation f :
       {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu, Activation::relu_squared}) {
    check_gradient(fmt::format("linear, then activation {}", static_cast<int>(f)),
                   [&](const Tensors& x) { return linear_activation(x[0], x[1], &x[2], f); },
                   {input({7, 3}, 1), input({20, 3}, 2), input({20}, 3)});
    check_gradient(fmt::format("linear without a bias, then activation {}", static_cast<int>(f)),
                   [&](const Tensors& x) { return linear_activation(x[0], x[1], nullptr, f); },
                   {input({2, 2, 3}, 1), input({5, 3}, 2)});
  }
  check_gradient("linear of a view with an axis of one entry",
                 [](const Tensors& x) { return linear(transpose(x[0], 0, 1), x[1]); },
                 {input({1, 4, 3}, 1), input({2, 3}, 2)});
  check_gradient("linear with one tensor as x and w", [](const Tensors& x) { return linear(x[0], x[0]); },
                 {input({3, 4}, 1)});
}

TEST_CASE("reductions have the right gradient over every axis", "[gradient]") {
  for (const Shape& shape : std::vector<Shape>{{1}, {7}, {33}, {2, 3}, {3, 17}, {2, 3, 4}, {2, 1, 3, 2}})
    for (int axis = -shape.rank; axis < shape.rank; ++axis)
      for (bool keep : {false, true}) {
        check_views("sum", shape, {}, [=](const Tensor& x) { return sum(x, axis, keep); });
        check_views("mean", shape, {}, [=](const Tensor& x) { return mean(x, axis, keep); });
        if (!keep) check_views("sum_before", shape, {}, [=](const Tensor& x) { return sum_before(x, axis); });
        check_gradient("max of " + shape.text(), [=](const Tensors& x) { return max(x[0], axis, keep); },
                       {{shape, apart(shape.size()), {}}});
      }
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{17}, Shape{3, 5}, Shape{2, 3, 2, 3}}) {
    check_views("sum", shape, {}, [](const Tensor& x) { return sum(x); });
    check_views("mean", shape, {}, [](const Tensor& x) { return mean(x); });
  }
  check_views("sum", {0, 3}, {}, [](const Tensor& x) { return sum(x, 0); });
  check_views("sum", {2, 0}, {}, [](const Tensor& x) { return sum(x, -1); });
  check_views("sum", {0}, {}, [](const Tensor& x) { return sum(x); });
}

TEST_CASE("softmax and its kind have the right gradient", "[gradient]") {
  for (int width : widths) {
    check_views("softmax", {3, width}, {-4, 4}, [](const Tensor& x) { return softmax(x); });
    check_views("log_softmax", {3, width}, {-4, 4}, [](const Tensor& x) { return log_softmax(x); });
    check_views("l2_normalize", {3, width}, {0.5, 2}, [](const Tensor& x) { return l2_normalize(x); });
  }
  check_views("softmax", {2, 3, 4}, {}, [](const Tensor& x) { return softmax(x); });
  check_views("softmax", {5}, {}, [](const Tensor& x) { return softmax(x); });
  check_views("softmax", {0, 3}, {}, [](const Tensor& x) { return softmax(x); });
  check_views("log_softmax", {0, 3}, {}, [](const Tensor& x) { return log_softmax(x); });
  check_views("l2_normalize", {2, 2, 3}, {0.5, 2}, [](const Tensor& x) { return l2_normalize(x); });
  check_views("l2_normalize under epsilon", {2, 3}, {-0.1, 0.1}, [](const Tensor& x) { return l2_normalize(x, 1); });
}

TEST_CASE("masked softmax has the right gradient under every mask", "[gradient]") {
  const std::int32_t lengths[] = {3, 0};
  std::vector<std::uint8_t> allowed = {1, 0, 0, 1, 1, /**/ 0, 0, 0, 0, 0, /**/ 0, 1, 1, 0, 1};
  std::vector<std::uint8_t> each = allowed;
  each.insert(each.end(), {1, 1, 1, 1, 1, /**/ 0, 0, 1, 0, 0, /**/ 0, 0, 0, 0, 0});
  const std::vector<std::pair<std::string, Mask>> masks = {
      {"none", {}},
      {"causal", {.causal = true}},
      {"causal after two keys", {.causal = true, .offset = 2}},
      {"window", {.window = 1}},
      {"causal behind a prefix", {.causal = true, .prefix = 3}},
      {"window, causal", {.causal = true, .window = 1}},
      {"window, causal behind a prefix", {.causal = true, .prefix = 1, .offset = 2, .window = 0}},
      {"lengths", {.lengths = lengths}},
      {"one matrix", {.allowed = allowed.data()}},
      {"a matrix for each", {.allowed = each.data(), .allowed_shared = false}},
      {"all at once",
       {.causal = true,
        .offset = 1,
        .window = 2,
        .lengths = lengths,
        .allowed = each.data(),
        .allowed_shared = false}}};
  for (const auto& [name, mask] : masks)
    check_views("masked_softmax, " + name, {2, 2, 3, 5}, {},
                [&m = mask](const Tensor& x) { return masked_softmax(x, m); });
}

TEST_CASE("masked fill has the right gradient", "[gradient]") {
  const std::vector<std::uint8_t> where = {1, 0, 0, 2, 0, 1};
  check_views("masked_fill", {2, 3}, {}, [&](const Tensor& x) { return masked_fill(x, where.data(), Real(-7)); });
}

TEST_CASE("norms have the right gradient", "[gradient]") {
  for (int width : widths)
    for (const Shape& shape : {Shape{width}, Shape{3, width}, Shape{2, 2, width}})
      for (const View& v : views())
        if (v.fits(shape)) {
          const std::string what = " of " + shape.text() + ", " + v.name;
          const Shape vector{width};
          const auto seen = [&](const Tensors& x) { return v.take(x[0], shape); };
          check_gradient("layer_norm" + what,
                         [&](const Tensors& x) { return layer_norm(seen(x), x[1], &x[2], Real(0.1)); },
                         {input(v.of(shape), 1), input(vector, 2), input(vector, 3)});
          check_gradient("layer_norm without bias" + what,
                         [&](const Tensors& x) { return layer_norm(seen(x), x[1], nullptr, Real(0.1)); },
                         {input(v.of(shape), 1), input(vector, 2)});
          check_gradient("rms_norm" + what, [&](const Tensors& x) { return rms_norm(seen(x), x[1], Real(0.1)); },
                         {input(v.of(shape), 1), input(vector, 2)});
        }
  check_gradient("layer_norm with x, gain and bias from one tensor",
                 [](const Tensors& x) {
                   const auto row = [&](int i) { return reshape(slice(x[0], 0, i, 1), {5}); };
                   const Tensor bias = row(1);
                   return layer_norm(x[0], row(0), &bias, Real(0.1));
                 },
                 {input({3, 5}, 1)});
  check_gradient("rms_norm with x as its own gain", [](const Tensors& x) { return rms_norm(x[0], x[0], Real(0.1)); },
                 {input({5}, 1)});
}

TEST_CASE("embedding has the right gradient where tokens repeat", "[gradient]") {
  const std::int32_t tokens[] = {3, 0, 3, 1, 3, 0};
  for (int width : widths) {
    check_views("embedding", {5, width}, {}, [&](const Tensor& x) { return embedding(x, tokens, {6}); });
    check_views("embedding", {5, width}, {}, [&](const Tensor& x) { return embedding(x, tokens, {2, 3}); });
  }
  check_views("embedding of no token", {5, 3}, {}, [&](const Tensor& x) { return embedding(x, tokens, {0}); });
  check_views("embedding of one token", {5, 3}, {}, [&](const Tensor& x) { return embedding(x, tokens, {}); });
}

TEST_CASE("cross-entropy has the right gradient", "[gradient]") {
  for (int classes : widths) {
    const std::vector<std::int32_t> targets = {0, classes - 1, -1, classes / 2};
    for (Real smoothing : {Real(0), Real(0.2)})
      for (Real divisor : {Real(0), Real(10)})
        check_views("cross_entropy", {4, classes}, {-4, 4}, [&](const Tensor& x) {
          return cross_entropy(x, targets.data(), {.label_smoothing = smoothing, .divisor = divisor});
        });
  }
  const std::int32_t targets[] = {0, 1, 1, 0};
  check_views("cross_entropy", {2, 2, 3}, {},
              [&](const Tensor& x) { return cross_entropy(x, targets, {.ignore = 1}); });
  const std::int32_t none[] = {7, 7};
  check_views("cross_entropy where no row counts", {2, 3}, {},
              [&](const Tensor& x) { return cross_entropy(x, none, {.ignore = 7}); });
}

TEST_CASE("shapes have the right gradient", "[gradient]") {
  check_views("reshape", {2, 3, 4}, {}, [](const Tensor& x) { return reshape(x, {4, -1}); });
  check_views("reshape", {0, 3}, {}, [](const Tensor& x) { return reshape(x, {3, 0, 2}); });
  check_views("unsqueeze", {2, 3}, {}, [](const Tensor& x) { return mul(unsqueeze(x, 1), unsqueeze(x, 0)); });
  for (const auto& axes : {std::pair{0, 1}, {0, 2}, {-1, 1}})
    check_views("transpose", {2, 3, 4}, {}, [=](const Tensor& x) { return transpose(x, axes.first, axes.second); });
  for (int axis : {0, 1, -1})
    for (std::int64_t length : {0, 1, 2})
      check_views("slice", {2, 3, 4}, {}, [=](const Tensor& x) { return slice(x, axis, 0, length); });
  for (int axis : {0, 1, 2, -1})
    check_views("concat", {2, 3, 4}, {}, [=](const Tensor& x) { return concat({x, slice(x, axis, 1, 1), x}, axis); });
  check_gradient("concat of three tensors, one of them empty",
                 [](const Tensors& x) {
                   return concat({x[0], x[1], transpose(x[2])}, 1);
                 },
                 {input({2, 3}, 1), input({2, 0}, 2), input({4, 2}, 3)});
}

TEST_CASE("a tensor that is split twice has the right gradient", "[gradient]") {
  check_gradient("two splits",
                 [](const Tensors& x) {
                   const Tensor y = tanh(x[0]);
                   const Tensor a = slice(y, -1, 0, 3), b = slice(y, -1, 3, 3);
                   const Tensor c = slice(y, 0, 0, 1), d = slice(y, 0, 1, 1);
                   return add(sum(mul(a, b)), sum(mul(exp(c), d)));
                 },
                 {input({2, 6}, 1)});
  check_gradient("a part, the whole, and the part again",
                 [](const Tensors& x) {
                   const Tensor y = tanh(x[0]), part = slice(y, 0, 1, 1);
                   return add(mul(y, part), exp(part));
                 },
                 {input({3, 4}, 1)});
  check_gradient("a part of a part",
                 [](const Tensors& x) {
                   const Tensor y = tanh(x[0]);
                   return mul(slice(slice(y, 1, 1, 3), 1, 1, 2), slice(y, 1, 0, 2));
                 },
                 {input({3, 4}, 1)});
}

TEST_CASE("results that are seen through views have the right gradient", "[gradient]") {
  check_gradient("a part of softmax", [](const Tensors& x) { return slice(softmax(x[0]), 1, 1, 2); },
                 {input({3, 5}, 1)});
  check_gradient("linear, transposed twice",
                 [](const Tensors& x) {
                   const Tensor y = transpose(linear(x[0], x[1]));
                   return matmul(y, transpose(y));
                 },
                 {input({3, 5}, 1), input({4, 5}, 2)});
  check_gradient("a residual connection around a view",
                 [](const Tensors& x) {
                   const Tensor y = exp(x[0]);
                   return add(transpose(y), tanh(transpose(y)));
                 },
                 {input({3, 4}, 1)});
}

TEST_CASE("dropout has the right gradient", "[gradient]") {
  const RandomKey key{1, Stream::dropout, 2};
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{33}, Shape{3, 17}, Shape{0}})
    for (double probability : {0.0, 0.3, 0.9})
      check_views("dropout", shape, {}, [&](const Tensor& x) { return dropout(x, probability, key, 5); });
}
