// Property tests with random graphs of views and operations: gradients that the tape shares, splits, donates and
// recycles must agree with finite differences.
#include "autograd/recompute.hpp"
#include "tests/autograd/gradients.hpp"

#include <rapidcheck.h>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// Appends a random operation. All inputs and results are [3, 4]; intermediate shapes are random.
Tensor random_operation(const Tensors& known, RandomSource& random) {
  const auto any = [&] { return known[random.below(known.size())]; };
  const auto row = [&] { return slice(any(), 0, static_cast<std::int64_t>(random.below(3)), 1); };
  const auto bounded = [&] { return tanh(any()); };
  switch (random.below(16)) {
    case 0: return add(any(), any());
    case 1: return sub(any(), any());
    case 2: return mul(bounded(), any());
    case 3: return scale(any(), Real(-0.5), Real(0.25));
    case 4: return gelu(any());
    case 5: return softmax(any());
    case 6: return add(any(), add(row(), row()));
    case 7: return mul(bounded(), slice(any(), 1, static_cast<std::int64_t>(random.below(4)), 1));
    case 8: return concat({slice(any(), 1, 2, 2), slice(any(), 1, 0, 2)}, 1);
    case 9: return concat({slice(any(), 0, 1, 2), sum(any(), 0, true)}, 0);
    case 10: return matmul(matmul(bounded(), transpose(softmax(any()))), bounded());
    case 11: return reshape(transpose(reshape(transpose(any()), {2, 2, 3}), 0, 2), {3, 4});
    case 12: return contiguous(any());
    case 13: return sub(any(), mean(any(), 1, true));
    case 14: {
      const Tensor x = any(), y = any(), z = bounded();
      return recompute(
          "rows", y.tape->make({3, 4}), 3, [](const Tensor& all, std::int64_t i) { return slice(all, 0, i, 1); },
          [=](std::int64_t i) {
            const Tensor own = slice(x, 0, i, 1);
            return add(matmul(softmax(matmul(own, transpose(z))), y), add(own, slice(z, 0, 2 - i, 1)));
          });
    }
    default: return linear(bounded(), matmul(transpose(bounded()), any()));
  }
}

Tensor random_graph(const Tensors& leaves, std::uint64_t seed, std::int64_t size) {
  RandomSource random({seed, Stream::test, 1});
  std::vector<Tensor> known = leaves;
  for (std::int64_t i = 0; i < size; ++i) known.push_back(random_operation(known, random));
  return tanh(scale(add(known.back(), known[random.below(known.size())]), Real(0.1)));
}

} // namespace

TEST_CASE("every random graph has the gradient that differences show", "[property]") {
  const bool holds = rc::check([](std::uint32_t seed) {
    const auto size = *rc::gen::inRange<std::int64_t>(1, 25);
    const GradcheckResult result = gradcheck([&](Tape&, const Tensors& x) { return random_graph(x, seed, size); },
                                             {input({3, 4}, seed), input({3, 4}, seed + 1ULL)},
                                             {.tolerance = 1e-5, .every = checked_elements});
    if (!result.passed) RC_FAIL(result.message);
  });
  CHECK(holds);
}

TEST_CASE("a random graph gives the same bits on a tape that other graphs have used", "[property]") {
  const bool holds = rc::check([](std::uint32_t seed) {
    Operand x({3, 4}, seed), y({3, 4}, seed + 1ULL);
    Tape used;
    std::vector<Real> first_x, first_y;
    for (std::uint64_t which : {0U, 1U, 2U, 0U}) { // the first graph is repeated at the end
      const std::vector<Tensor> leaves = {x.on(used), y.on(used)};
      used.backward(sum(random_graph(leaves, seed + which, 20)));
      for (std::size_t i = 0; i < 2; ++i)
        if (Operand& operand = i ? y : x; Tape::untouched(leaves[i])) operand.gradient.assign(12, 0);
      used.rewind();
      if (first_x.empty()) {
        first_x = x.gradient;
        first_y = y.gradient;
      }
    }
    RC_ASSERT(x.gradient == first_x);
    RC_ASSERT(y.gradient == first_y);
  });
  CHECK(holds);
}
