// Compares convolution and group norm with plain loops and with PyTorch (tests/fixtures/images.json).
#include "autograd/images.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/fixtures/fixture.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// conv2d as defined in its header, in double.
std::vector<double> naive_convolution(const Operand& x, const Operand& w, const Operand& bias, std::int64_t stride,
                                      std::int64_t padding) {
  const std::int64_t C = x.shape[1], H = x.shape[2], W = x.shape[3];
  const auto at = [](const Operand& t, std::int64_t i) {
    return static_cast<double>(t.values[static_cast<std::size_t>(i)]);
  };
  std::vector<double> out;
  for (std::int64_t b = 0; b < x.shape[0]; ++b)
    for (std::int64_t o = 0; o < w.shape[0]; ++o)
      for (std::int64_t i = 0; i * stride + w.shape[2] <= H + 2 * padding; ++i)
        for (std::int64_t j = 0; j * stride + w.shape[3] <= W + 2 * padding; ++j) {
          double sum = at(bias, o);
          for (std::int64_t c = 0; c < C; ++c)
            for (std::int64_t u = 0; u < w.shape[2]; ++u)
              for (std::int64_t v = 0; v < w.shape[3]; ++v) {
                const std::int64_t row = i * stride + u - padding, column = j * stride + v - padding;
                if (row < 0 || row >= H || column < 0 || column >= W) continue;
                sum += at(w, ((o * C + c) * w.shape[2] + u) * w.shape[3] + v) *
                       at(x, ((b * C + c) * H + row) * W + column);
              }
          out.push_back(sum);
        }
  return out;
}

// Compares the operation of a fixture: the result, and the gradients for the fixture's dy.
void compare(const std::string& name,
             const std::function<Tensor(const Fixture&, const Tensor& x, const Tensor& w, const Tensor& b)>& function) {
  INFO(name);
  const Fixture f("images", name);
  Tape tape;
  Operand x(f["x"].shape, f["x"].as<Real>()), w(f["weight"].shape, f["weight"].as<Real>()),
      b(f["bias"].shape, f["bias"].as<Real>());
  const Tensor y = function(f, x.on(tape), w.on(tape), b.on(tape));
  REQUIRE(y.shape == f["y"].shape);
  CHECK(distance(read(y), f["y"].values) < agreement);
  const std::vector<Real> dy = f["dy"].as<Real>();
  tape.backward(sum(mul(y, tape.copy(dy.data(), y.shape))));
  CHECK(distance(x.gradient, f["d.x"].values) < agreement);
  CHECK(distance(w.gradient, f["d.weight"].values) < agreement);
  CHECK(distance(b.gradient, f["d.bias"].values) < agreement);
}

} // namespace

TEST_CASE("convolution equals plain loops with every kernel, stride and padding", "[images]") {
  for (const auto& [height, width] : {std::pair{1, 1}, {5, 5}, {7, 4}, {6, 35}})
    for (const auto& [kernel_height, kernel_width] : {std::pair{1, 1}, {3, 3}, {2, 5}, {4, 1}})
      for (std::int64_t stride : {1, 2, 3})
        for (std::int64_t padding : {0, 1, 4}) {
          if (kernel_height > height + 2 * padding || kernel_width > width + 2 * padding) continue;
          INFO(height << " x " << width << ", kernel " << kernel_height << " x " << kernel_width << ", stride "
                      << stride << ", padding " << padding);
          Operand x({2, 3, height, width}, 1), w({4, 3, kernel_height, kernel_width}, 2), bias({4}, 3);
          Tape tape;
          const Tensor b = bias.on(tape);
          const auto expected = naive_convolution(x, w, bias, stride, padding);
          CHECK(distance(read(conv2d(x.on(tape), w.on(tape), &b, {stride, padding})), expected) < 20 * rounding);
        }
}

TEST_CASE("convolution refuses what does not fit", "[images]") {
  Tape tape;
  const auto z = [&](const Shape& s) { return tape.zeros(s); };
  using Catch::Contains;
  CHECK_THROWS_WITH(conv2d(z({2, 3, 4, 4}), z({5, 2, 3, 3}), nullptr),
                    Contains("channels") && Contains("[5, 2, 3, 3]"));
  CHECK_THROWS_WITH(conv2d(z({2, 3, 4, 4}), z({5, 3, 7, 3}), nullptr, {1, 1}), Contains("padded image"));
  CHECK_THROWS_WITH(conv2d(z({2, 3, 4, 4}), z({5, 3, 3, 3}), nullptr, {0, 1}), Contains("stride"));
  CHECK_THROWS_WITH(conv2d(z({3, 4, 4}), z({5, 3, 3, 3}), nullptr), Contains("axes"));
  const Tensor bias = z({3});
  CHECK_THROWS_WITH(conv2d(z({2, 3, 4, 4}), z({5, 3, 3, 3}), &bias), Contains("[5]") && Contains("[3]"));
  CHECK_THROWS_WITH(group_norm(z({2, 6, 4}), 4, z({6}), z({6})), Contains("4 groups") && Contains("6"));
  CHECK_THROWS_WITH(group_norm(z({2, 6, 4}), 3, z({4}), z({6})), Contains("gain") && Contains("[6]"));
}

TEST_CASE("group norm's groups have mean 0 and variance 1, and rows do not see each other", "[images]") {
  Operand x({3, 6, 4, 5}, 1, {3, 7, 0}), gain({6}, std::vector<Real>(6, 1)), bias({6}, std::vector<Real>(6));
  const auto normed = [&](Real epsilon) {
    Tape tape;
    return read(group_norm(x.on(tape), 2, gain.on(tape), bias.on(tape), epsilon));
  };
  const std::vector<Real> y = normed(0);
  for (std::size_t g = 0; g < 6; ++g) {
    double sum = 0, squares = 0;
    for (std::size_t i = g * 60; i < (g + 1) * 60; ++i) {
      sum += static_cast<double>(y[i]);
      squares += static_cast<double>(y[i]) * static_cast<double>(y[i]);
    }
    CHECK(std::abs(sum / 60) < 10 * rounding);
    CHECK(std::abs(squares / 60 - 1) < 10 * rounding);
  }
  for (std::size_t i = 120; i < 240; ++i) x.values[i] *= 5;
  const std::vector<Real> changed = normed(0);
  CHECK(std::equal(y.begin(), y.begin() + 120, changed.begin()));
  CHECK(std::equal(y.begin() + 240, y.end(), changed.begin() + 240));
}

TEST_CASE("convolution and group norm equal PyTorch's", "[torch]") {
  for (const std::string name : {"conv2d", "conv2d_padded_strided", "conv2d_patches"})
    compare(name, [](const Fixture& f, const Tensor& x, const Tensor& w, const Tensor& b) {
      return conv2d(x, w, &b,
                    {static_cast<std::int64_t>(f.number("stride")), static_cast<std::int64_t>(f.number("padding"))});
    });
  for (std::int64_t groups : {1, 2, 6})
    compare("group_norm_" + std::to_string(groups), [groups](const Fixture&, const Tensor& x, const Tensor& w,
                                                             const Tensor& b) { return group_norm(x, groups, w, b); });
}
