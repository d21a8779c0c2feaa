// Error messages of every operation for operands that do not fit.
#include "tests/autograd/drawn.hpp"
#include "tests/catch.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

TEST_CASE("an operation names itself and the shapes that do not fit", "[error]") {
  Tape tape;
  const auto t = [&](const Shape& shape) { return tape.zeros(shape); };
  const std::int32_t tokens[] = {0, 5, -1};
  const auto refuses = [](const std::function<void()>& f, const std::string& message) {
    CHECK_THROWS_AS(f(), Failed);
    CHECK_THROWS_WITH(f(), message);
  };
  refuses([&] { rms_norm(t({2, 0}), t({0})); }, "[rms_norm] x needs a last axis with an entry");
  refuses([&] { add(t({2, 3}), t({4})); }, "[add] the shapes do not broadcast: [2, 3] and [4]");
  refuses([&] { sub(t({2, 3}), t({2})); }, "[sub] the shapes do not broadcast: [2, 3] and [2]");
  refuses([&] { mul(t({0}), t({2})); }, "[mul] the shapes do not broadcast: [0] and [2]");
  refuses([&] { div(t({2, 3}), t({3, 2})); }, "[div] the shapes do not broadcast: [2, 3] and [3, 2]");

  refuses([&] { matmul(t({3}), t({3, 2})); }, "[matmul] both operands need two axes or more, they have 1 and 2");
  refuses([&] { matmul(t({2, 3}), t({4, 2})); }, "[matmul] [2, 3] by [4, 2] does not fit");
  refuses([&] { matmul(t({2, 3, 4}), t({3, 4, 2})); }, "[matmul] [2, 3, 4] by [3, 4, 2] does not fit");
  refuses([&] { matmul(t({5, 2, 3, 4}), t({5, 4, 2})); }, "[matmul] [5, 2, 3, 4] by [5, 4, 2] does not fit");
  refuses(
      [&] {
        linear(t({2, 3}), t({5, 4}));
      },
      "[linear] x and w must share the input width: x is [2, 3], w is [5, 4]");
  refuses([&] { linear(t({}), t({5, 4})); }, "[linear] x needs an axis and w two, they have 0 and 2");
  refuses([&] { linear(t({2, 4}), t({5})); }, "[linear] x needs an axis and w two, they have 2 and 1");
  refuses([&] { linear(t({2, 4}), t({5, 4}), t({4})); }, "[linear] the bias must be [5], it is [4]");

  refuses([&] { sum(t({2, 3}), 2); }, "[sum] there is no axis 2 in a tensor of 2 axes");
  refuses([&] { mean(t({2, 3}), -3); }, "[mean] there is no axis -3 in a tensor of 2 axes");
  refuses([&] { mean(t({2, 0}), 1); }, "[mean] the mean over an axis of 0 entries");
  refuses([&] { mean(t({0})); }, "[mean] the mean over an axis of 0 entries");
  refuses([&] { max(t({}), 0); }, "[max] there is no axis 0 in a tensor of 0 axes");
  refuses([&] { max(t({0, 2}), 0); }, "[max] the largest over an axis of 0 entries");

  refuses([&] { reshape(t({2, 3}), {4}); }, "[reshape] [2, 3] has 6 elements, [4] has 4");
  refuses([&] { reshape(t({2, 3}), {4, -1}); }, "[reshape] 6 elements do not divide into pieces of 4");
  refuses([&] { reshape(t({2, 3}), {-1, -1}); }, "[reshape] only one extent may be left open, with -1");
  refuses([&] { reshape(t({2, 3}), {-2, 3}); }, "[reshape] only one extent may be left open, with -1");
  refuses([&] { transpose(t({2})); }, "[transpose] there is no axis -2 in a tensor of 1 axes");
  refuses([&] { transpose(t({2, 3}), 0, 2); }, "[transpose] there is no axis 2 in a tensor of 2 axes");
  refuses([&] { slice(t({2, 3}), 1, 2, 2); }, "[slice] [2, 4) is not within axis 1 of 3 entries");
  refuses([&] { slice(t({2, 3}), 0, -1, 1); }, "[slice] [-1, 0) is not within axis 0 of 2 entries");
  refuses([&] { slice(t({2, 3}), 2, 0, 1); }, "[slice] there is no axis 2 in a tensor of 2 axes");
  refuses([&] { unsqueeze(t({2, 3}), 3); }, "[unsqueeze] there is no axis 3 in a tensor of 3 axes");
  refuses([&] { unsqueeze(t({1, 1, 1, 1, 1, 1}), 0); }, "[shape] a tensor has at most 6 axes");
  refuses([&] { concat({}, 0); }, "[concat] there is nothing to put together");
  refuses([&] { concat({t({2, 3}), t({2})}, 0); }, "[concat] the parts have 2 and 1 axes");
  refuses([&] { concat({t({2, 3}), t({3, 3})}, 1); }, "[concat] the parts differ outside of axis 1: [2, 3] and [3, 3]");
  refuses([&] { concat({t({2, 3})}, 2); }, "[concat] there is no axis 2 in a tensor of 2 axes");

  refuses([&] { softmax(t({})); }, "[softmax] x needs a last axis with an entry");
  refuses([&] { softmax(t({2, 0})); }, "[softmax] x needs a last axis with an entry");
  refuses([&] { log_softmax(t({})); }, "[log_softmax] x needs a last axis with an entry");
  refuses([&] { masked_softmax(t({2, 3}), {}); }, "[masked_softmax] x must be [B, H, Tq, Tk], it has 2 axes");
  refuses([&] { l2_normalize(t({2, 0})); }, "[l2_normalize] x needs a last axis with an entry");
  refuses([&] { layer_norm(t({2, 3}), t({4}), nullptr); }, "[layer_norm] the gain must be [3], it is [4]");
  refuses(
      [&] {
        const Tensor bias = t({1, 3});
        layer_norm(t({2, 3}), t({3}), &bias);
      },
      "[layer_norm] the bias must be [3], it is [1, 3]");
  refuses([&] { rms_norm(t({2, 3}), t({1})); }, "[rms_norm] the gain must be [3], it is [1]");
  refuses([&] { rms_norm(t({}), t({1})); }, "[rms_norm] x needs a last axis with an entry");

  refuses([&] { embedding(t({5}), tokens, {3}); }, "[embedding] the table must be [vocabulary, width], it has 1 axes");
  refuses([&] { embedding(t({5, 2}), tokens, {3}); }, "[embedding] token 5 at 1 is not within the vocabulary of 5");
  refuses([&] { embedding(t({6, 2}), tokens, {3}); }, "[embedding] token -1 at 2 is not within the vocabulary of 6");
  refuses([&] { embedding(t({6, 2}), tokens, {1, 1, 1, 1, 1, 1}); }, "[shape] a tensor has at most 6 axes");
  refuses([&] { cross_entropy(t({3, 5}), tokens); }, "[cross_entropy] target 5 of row 1 is not within the 5 classes");
  refuses([&] { cross_entropy(t({}), tokens); }, "[cross_entropy] the logits need a last axis with a class");
  refuses(
      [&] {
        cross_entropy(t({3, 6}), tokens, {.ignore = 0});
      },
      "[cross_entropy] target -1 of row 2 is not within the 6 classes");
  refuses([&] { dropout(t({3}), 1, {}, 0); }, "[dropout] the probability must be in [0, 1), it is 1");
  refuses([&] { dropout(t({3}), -0.1, {}, 0); }, "[dropout] the probability must be in [0, 1), it is -0.1");
}
