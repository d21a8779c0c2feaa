// Recomputation in the backward pass: values and gradients must be the same as without it, with the memory of one
// piece.
#include "autograd/operation_count.hpp"
#include "autograd/recompute.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/gradients.hpp"
#include "tests/autograd/heap.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

Tensor row_of(const Tensor& all, std::int64_t i) { return slice(all, 0, i, 1); }

// For each row, softmax(x_i y^T) y + x_i. x and y are each used twice: by several pieces, and within one piece.
Tensor attended_row(const Tensor& x, const Tensor& y, std::int64_t i) {
  const Tensor own = row_of(x, i);
  return add(matmul(softmax(matmul(own, transpose(y))), y), own);
}

Tensor by_rows(const Tensor& x, const Tensor& y) {
  return recompute("rows", x.tape->make({x.shape[0], y.shape[1]}), x.shape[0], row_of,
                   [=](std::int64_t i) { return attended_row(x, y, i); });
}

Tensor at_once(const Tensor& x, const Tensor& y) { return add(matmul(softmax(matmul(x, transpose(y))), y), x); }

struct Outcome {
  std::vector<Real> result, x, y;
};

Outcome outcome(Tensor (*function)(const Tensor&, const Tensor&), std::int64_t rows = 6) {
  Tape tape;
  Operand x({rows, 4}, 1), y({5, 4}, 2);
  const Tensor result = function(x.on(tape), y.on(tape));
  tape.backward(sum(mul(result, result)));
  return {read(result), x.gradient, y.gradient};
}

} // namespace

TEST_CASE("what is recomputed has the right gradient, whatever it is a view of", "[recompute][gradient]") {
  check_view_pair("rows", {{3, 4}, views()[0]}, {{5, 4}, views()[0]}, by_rows);
  for (const View& view : views()) {
    if (!view.fits({3, 4})) continue;
    check_view_pair("rows", {{3, 4}, view}, {{5, 4}, views()[0]}, by_rows);
    check_view_pair("rows", {{3, 4}, views()[0]}, {{5, 4}, view}, by_rows);
  }
}

TEST_CASE("the parts of one tensor, one tensor twice, and results of operations may be recomputed with",
          "[recompute][gradient]") {
  check_gradient("parts of one projection",
                 [](const Tensors& x) {
                   const Tensor all = linear(x[0], x[1]);
                   return by_rows(slice(all, 1, 0, 4), slice(all, 1, 4, 4));
                 },
                 {input({3, 2}, 1), input({8, 2}, 2)});
  check_gradient("one tensor twice", [](const Tensors& x) { return by_rows(x[0], x[0]); }, {input({3, 4}, 1)});
  check_gradient("used outside as well",
                 [](const Tensors& x) {
                   const Tensor y = tanh(x[0]);
                   return add(add(y, by_rows(y, x[1])), mul(by_rows(x[1], y), y));
                 },
                 {input({3, 4}, 1), input({3, 4}, 2)});
}

TEST_CASE("pieces may fill a view, be views, and be what was there before", "[recompute][gradient]") {
  check_gradient("columns",
                 [](const Tensors& x) {
                   const Tensor a = tanh(x[0]), b = x[1];
                   return recompute(
                       "columns", transpose(a.tape->make({4, 3})), 4,
                       [](const Tensor& all, std::int64_t i) { return slice(all, 1, i, 1); },
                       [=](std::int64_t i) {
                         if (i == 0) return slice(a, 1, 3, 1);         // of an earlier operation
                         if (i == 1) return slice(b, 1, 0, 1);         // of a leaf
                         if (i == 2) return slice(mul(a, b), 1, 2, 1); // of an operation within the piece
                         return transpose(reshape(slice(b, 1, 1, 1), {1, 3}));
                       });
                 },
                 {input({3, 4}, 1), input({3, 4}, 2)});
}

TEST_CASE("what wants no gradient is recomputed with, and gets none", "[recompute]") {
  Tape tape;
  const std::vector<Real> numbers = draw(20, 3);
  Operand x({6, 4}, 1);
  const Tensor known = tape.constant(numbers.data(), {5, 4}), result = by_rows(x.on(tape), known);
  tape.backward(sum(result));
  CHECK_FALSE(known.slot->written);
  CHECK(x.gradient != std::vector<Real>(24));
  const std::int64_t before = tape.nodes();
  CHECK_FALSE(by_rows(known, known).slot->requires_grad);
  CHECK(tape.nodes() == before);
}

TEST_CASE("recomputed results are the composition's", "[recompute]") {
  const Outcome found = outcome(by_rows), expected = outcome(at_once);
  CHECK(distance(found.result, expected.result) < 20 * rounding);
  CHECK(distance(found.x, expected.x) < 100 * rounding);
  CHECK(distance(found.y, expected.y) < 100 * rounding);
}

TEST_CASE("a result is one node, and memory is that of one piece", "[recompute]") {
  const auto peak = [](std::int64_t rows) {
    Tape tape;
    Operand x({rows, 4}, 1), y({5000, 4}, 2);
    const Tensor result = by_rows(x.on(tape), y.on(tape));
    CHECK(tape.nodes() == 1);
    tape.backward(sum(result));
    return tape.peak();
  };
  const std::size_t few = peak(2), many = peak(50);
  // The allowed difference is less than four rows of 5000 scores and weights with their gradients.
  CHECK(many < few + 4 * 5000 * sizeof(Real));
}

TEST_CASE("recomputing asks for no memory from the third step on, and gives the same bits", "[recompute][heap]") {
  Tape tape;
  Operand x({6, 4}, 1), y({5, 4}, 2);
  const auto step = [&] {
    tape.rewind();
    tape.backward(sum(tanh(by_rows(tanh(x.on(tape)), y.on(tape)))));
  };
  step();
  const std::vector<Real> first = y.gradient;
  step();
  const std::int64_t before = heap_calls();
  for (int i = 0; i < 3; ++i) step();
  CHECK(heap_calls() == before);
  CHECK(y.gradient == first);
}

TEST_CASE("within what is recomputed, pieces are kept", "[recompute]") {
  const auto nested = [](const Tensor& x, const Tensor& y) {
    return recompute(
        "halves", x.tape->make({6, 4}), 2, [](const Tensor& all, std::int64_t i) { return slice(all, 0, 3 * i, 3); },
        [=](std::int64_t i) { return by_rows(slice(x, 0, 3 * i, 3), y); });
  };
  const Outcome found = outcome(nested), expected = outcome(by_rows);
  CHECK(found.result == expected.result);
  CHECK(distance(found.x, expected.x) < 100 * rounding);
  CHECK(distance(found.y, expected.y) < 100 * rounding);
  Tape tape;
  const Tape::NestedTape aside(tape);
  CHECK_THROWS_WITH(Tape::NestedTape(tape), Catch::Contains("can't be nested again"));
}

TEST_CASE("without recording, pieces are only computed", "[recompute]") {
  Tape tape;
  tape.record(false);
  Operand x({6, 4}, 1), y({5, 4}, 2);
  const Tensor result = by_rows(x.on(tape), y.on(tape));
  CHECK(tape.nodes() == 0);
  CHECK(read(result) == outcome(by_rows).result);
}

TEST_CASE("without recording, memory is that of one piece, within another piece, too", "[recompute]") {
  const auto peak = [](std::int64_t rows, bool recording) {
    Tape tape;
    tape.record(recording);
    Operand x({rows, 4}, 1), y({5000, 4}, 2);
    const Tensor on_x = x.on(tape), on_y = y.on(tape);
    recompute(
        "all", tape.make({rows, 4}), 1, [](const Tensor& all, std::int64_t) { return all; },
        [=](std::int64_t) { return by_rows(on_x, on_y); });
    return tape.peak();
  };
  const std::size_t few = peak(2, false), many = peak(50, false);
  CHECK(many < few + 4 * 5000 * sizeof(Real));
  CHECK(peak(50, true) > many + 20 * 5000 * sizeof(Real));
}

TEST_CASE("products that are computed anew count once", "[recompute]") {
  const auto counted = [](Tensor (*function)(const Tensor&, const Tensor&)) {
    const double before = counted_operations();
    outcome(function);
    return counted_operations() - before;
  };
  CHECK(counted(by_rows) == counted(at_once));
}

TEST_CASE("a leaf that a piece is the first to ask for outlives the piece", "[recompute]") {
  Tape tape;
  Operand x({3, 4}, 1), w({4, 4}, 2);
  Tensor* leaf = tape.keep<Tensor>(1);
  *leaf = {};
  const Tensor on = x.on(tape);
  Operand* weight = &w;
  const Tensor result = recompute("rows", tape.make({3, 4}), 3, row_of, [=](std::int64_t i) {
    if (!leaf->tape) *leaf = weight->on(*on.tape);
    return matmul(row_of(on, i), *leaf);
  });
  tape.backward(sum(result));
  std::vector<double> expected;
  for (std::size_t i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      expected.push_back(static_cast<double>(x.values[i]) + static_cast<double>(x.values[4 + i]) +
                         static_cast<double>(x.values[8 + i]));
  CHECK(distance(w.gradient, expected) < 20 * rounding);
}

TEST_CASE("a piece that does not fit is named, and the tape can be used afterwards", "[recompute]") {
  Tape tape;
  Operand x({3, 4}, 1);
  const Tensor on = x.on(tape);
  const auto make = [&](std::int64_t width) {
    return recompute("rows", tape.make({3, 4}), 3, row_of,
                     [=](std::int64_t i) { return slice(tanh(row_of(on, i)), 1, 0, i == 2 ? width : 4); });
  };
  CHECK_THROWS_WITH(make(3), "[rows] piece 2 is [1, 3], and its part of the result is [1, 4]");
  CHECK_FALSE(tape.nested());
  CHECK_NOTHROW(tape.backward(sum(make(4))));
  tape.detect_anomaly(true);
  tape.rewind();
  Operand bad({1, 2}, {Real(1), Real(-1)});
  const Tensor broken = bad.on(tape);
  CHECK_THROWS_WITH(recompute("rows", tape.make({1, 2}), 1, row_of, [=](std::int64_t) { return log(broken); }),
                    "[log] the result has a NaN at element 1 of 2");
  CHECK_FALSE(tape.nested());
}
