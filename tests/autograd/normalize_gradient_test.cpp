// Gradients of row rules and of biases by distance, compared with finite differences in double.
#include "autograd/normalize.hpp"
#include "autograd/relative.hpp"
#include "tests/autograd/gradients.hpp"
#include "tests/autograd/row_rules.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

const std::int32_t lengths[] = {3, 0};
const std::vector<std::uint8_t> allowed = {1, 0, 0, 1, 1, /**/ 0, 0, 0, 0, 0, /**/ 0, 1, 1, 0, 1};
const std::vector<Mask> masks = {
    {},
    {.causal = true},
    {.causal = true, .prefix = 3},
    {.window = 1},
    {.causal = true, .prefix = 1, .offset = 2, .window = 0},
    {.lengths = lengths},
    {.allowed = allowed.data()},
    {.causal = true, .offset = 1, .window = 2, .lengths = lengths, .allowed = allowed.data()}};

} // namespace

const ShareRule shares;
const LogisticRule logistic_rows;
const SoftmaxRule softmax_rows;

std::function<Tensor(const Tensor&)> rows(const RowRule& policy, const Mask& mask = {}) {
  return [&policy, mask](const Tensor& x) { return normalize_rows("rows", x, mask, policy); };
}

TEST_CASE("row rules have the right gradient under every mask", "[gradient]") {
  for (std::size_t m = 0; m < masks.size(); ++m) {
    const std::string mask = ", mask " + std::to_string(m);
    check_views("softmax" + mask, {2, 2, 3, 5}, {}, rows(softmax_rows, masks[m]));
    check_views("shares" + mask, {2, 2, 3, 5}, {}, rows(shares, masks[m]));
    check_views("logistic" + mask, {2, 2, 3, 5}, {}, rows(logistic_rows, masks[m]));
  }
  check_views("shares of many", {1, 1, 3, 40}, {-1, 1, 0}, rows(shares));
  check_views("softmax of many", {1, 1, 3, 40}, {-1, 1, 0}, rows(softmax_rows));
}

TEST_CASE("numbers by distance have the right gradient", "[gradient]") {
  for (std::int64_t clip : {0, 1, 3, 9})
    for (std::int64_t offset : {0, 2}) {
      const std::string what = fmt::format("clip {}, offset {}", clip, offset);
      for (const Shape& shape : {Shape{2, 2, 3, 2 * clip + 1}, {1, 2, 1, 2 * clip + 1}, {1, 1, 1, 2 * clip + 1}})
        check_views("terms by distance, " + what, shape, {}, [=](const Tensor& p) {
          return add_bias(p.tape->zeros({2, 2, 3, 5}), bias_by_distance(p, offset));
        });
      check_views("sum_by_distance, " + what, {2, 3, 5}, {},
                  [=](const Tensor& w) { return sum_by_distance(w, clip, offset); });
    }
}

TEST_CASE("numbers by distance are those of each pair's distance, clipped, and their sums over each distance") {
  Tape tape;
  Operand p({1, 3}, {10, 20, 30});
  const Tensor numbers = reshape(p.on(tape), {1, 1, 1, 3});
  CHECK(read(add_bias(tape.zeros({1, 1, 1, 4}), bias_by_distance(numbers, 1))) == std::vector<Real>{10, 20, 30, 30});
  Operand w({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(read(sum_by_distance(w.on(tape), 1, 1)) == std::vector<Real>{1, 2, 7, 11, 7, 8});
}
