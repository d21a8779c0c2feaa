// Steps that share packed weights (Tape::PackedWeightCache): results must be bit-identical to independent steps.
#include "autograd/recompute.hpp"
#include "autograd/recurrent.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/catch.hpp"

#include <optional>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

enum class CellKind { elman, gru, lstm };

struct Case {
  CellKind cell;
  std::int64_t rows, width, steps;
};

// All results of the steps h_t = cell(relu(W [e_t; h_{t-1}] + b), h_{t-1}); the loss is the sum of their squares.
std::vector<std::vector<Real>> outcome(const Case& x, bool together, bool rests) {
  const std::int64_t gates = x.cell == CellKind::elman ? 1 : x.cell == CellKind::gru ? 3 : 4, width = x.width;
  const Domain small{-0.2, 0.2};
  Operand e({x.steps, x.rows, width}, 1), h0({x.rows, width}, 2), c0({x.rows, width}, 3);
  Operand input({gates * width, 2 * width}, 4, small), bias({gates * width}, 5, small),
      recurrent({gates * width, width}, 6, small), gru_bias({width}, 7, small);
  std::vector<std::int32_t> lengths;
  for (std::int64_t b = 0; b < x.rows; ++b) lengths.push_back(static_cast<std::int32_t>(b % (x.steps + 1)));
  std::vector<std::vector<Real>> out;
  Tape tape;
  const Tensor all = scale(e.on(tape), 1), w = input.on(tape), b = bias.on(tape), u = recurrent.on(tape),
               own = gru_bias.on(tape);
  Tensor h = h0.on(tape), c = c0.on(tape), loss = tape.zeros({});
  {
    std::optional<Tape::PackedWeightCache> steps;
    if (together) steps.emplace(tape);
    for (std::int64_t t = 0; t < x.steps; ++t) {
      const Tensor now = reshape(slice(all, 0, t, 1), {x.rows, width});
      const Tensor in = unsqueeze(linear_activation(concat({now, h}, 1), w, &b, Activation::relu), 0);
      const RecurrentSteps one{.lengths = rests ? lengths.data() : nullptr, .first = t};
      const Recurrence r = x.cell == CellKind::elman ? elman(in, h, u, one)
                           : x.cell == CellKind::gru ? gru(in, h, u, own, one)
                                                     : lstm(in, h, c, u, one);
      h = r.last;
      if (r.cell.tape) c = r.cell;
      loss = add(loss, sum(mul(h, h)));
      out.push_back(read(h));
    }
  }
  tape.backward(loss);
  for (const Operand* o : {&e, &h0, &c0, &input, &bias, &recurrent, &gru_bias}) out.push_back(o->gradient);
  return out;
}

} // namespace

TEST_CASE("steps that share what their weights are made to have the bits of steps by themselves", "[steps]") {
  const Case cases[] = {{CellKind::gru, 1, 1, 3},    {CellKind::gru, 3, 20, 4},  {CellKind::gru, 32, 24, 13},
                        {CellKind::gru, 300, 5, 3},  {CellKind::gru, 2, 300, 2}, {CellKind::elman, 33, 40, 9},
                        {CellKind::elman, 7, 17, 1}, {CellKind::lstm, 33, 16, 9}};
  for (const Case& x : cases)
    for (const bool rests : {false, true}) {
      CAPTURE(static_cast<int>(x.cell), x.rows, x.width, x.steps, rests);
      CHECK(outcome(x, true, rests) == outcome(x, false, rests));
    }
}

TEST_CASE("weights that need no gradient, and steps that are not recorded, are right within steps, too", "[steps]") {
  for (const bool recorded : {true, false}) {
    Operand x({2, 3}, 1), w({4, 3}, 2);
    Tape tape;
    tape.record(recorded);
    const Tensor fixed = tape.constant(w.values.data(), {4, 3}), in = x.on(tape);
    const auto twice = [&] { return add(linear(in, fixed), linear(scale(in, 2), fixed)); };
    const Tensor alone = twice();
    const Tape::PackedWeightCache together(tape);
    const Tensor y = twice();
    CHECK(read(y) == read(alone));
    tape.backward(sum(add(y, alone)));
    std::vector<Real> expected(6);
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 4; ++j) expected[i] += 6 * w.values[3 * j + i % 3];
    if (recorded)
      for (std::size_t i = 0; i < 6; ++i) CHECK(x.gradient[i] == Approx(expected[i]));
  }
}

TEST_CASE("there are steps once at a time, and none in what is given up before they end", "[steps]") {
  Tape tape;
  CHECK(tape.packed_weights() == nullptr);
  {
    const Tape::PackedWeightCache steps(tape);
    CHECK(tape.packed_weights() == &steps);
    CHECK_THROWS_WITH(Tape::PackedWeightCache(tape), "[tape] there are steps already: there is one walk at a time");
    {
      const Tape::NestedTape aside(tape);
      CHECK(tape.packed_weights() == nullptr);
    }
    CHECK(tape.packed_weights() == &steps);
    tape.record(false);
    {
      const Tape::ArenaScope transient(tape);
      CHECK(tape.packed_weights() == nullptr);
    }
    CHECK(tape.packed_weights() == &steps);
  }
  CHECK(tape.packed_weights() == nullptr);
}
