// Tests of the convolution and group norm layers.
#include "layers/linear.hpp"
#include "tests/layers/layer_support.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

TEST_CASE("a convolution whose kernel is as large as its stride is a linear map of patches", "[convolution]") {
  Weights weights;
  const Convolution patches(weights.scope(), {.in = 2, .out = 5, .kernel = 4, .options = {.stride = 4}});
  weights.fill(1);
  Operand x({3, 2, 8, 12}, 2);
  Tape tape;
  Pass pass = weights.pass(tape);
  const Tensor y = patches(pass, x.on(tape));
  CHECK(y.shape == Shape{3, 5, 2, 3});

  // [B, C, rows, 4, columns, 4] to [B, rows, columns, C 4 4].
  Tensor cut = reshape(x.on(tape), {3, 2, 2, 4, 3, 4});
  cut = transpose(transpose(transpose(cut, 1, 2), 3, 4), 2, 3);
  const Tensor flat = linear(reshape(cut, {3, 2, 3, 32}), reshape(pass(patches.weight), {5, 32}), pass(patches.bias));
  CHECK(distance(read(transpose(transpose(flat, 1, 3), 2, 3)), read(y)) < 20 * rounding);
}

TEST_CASE("a convolution's bias starts at zero, and may be absent", "[convolution]") {
  Weights with, without;
  Convolution(with.scope(), {.in = 2, .out = 3, .kernel = 1});
  Convolution(without.scope(), {.in = 2, .out = 3, .kernel = 1, .bias = false});
  CHECK(with.parameters.count() == 9);
  CHECK(without.parameters.count() == 6);
  with.parameters.initialise(1);
  const auto* bias = with.parameters.find("bias");
  REQUIRE(bias);
  CHECK(all_zero({with.parameters.values() + bias->offset, with.parameters.values() + bias->offset + 3}));
}

TEST_CASE("group norm refuses groups that do not divide its channels", "[convolution]") {
  Weights weights;
  CHECK_THROWS_WITH(GroupNorm(weights.scope(), 4, 6), Catch::Contains("4 groups") && Catch::Contains("6 channels"));
}
