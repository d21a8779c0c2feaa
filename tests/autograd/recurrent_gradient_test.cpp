// Gradients of recurrent steps, compared with finite differences in double.
#include "autograd/recurrent.hpp"
#include "tests/autograd/gradients.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// A cell as a function of x [T, B, gates H], h [B, H], w [gates H, H], and a bias [H] or a cell state [B, H].
struct Cell {
  std::string name;
  std::int64_t gates;
  bool more, per_row; ///< whether there is a fourth operand, and whether it has one row for each batch entry
  Recurrence (*run)(const Tensors& x, const RecurrentSteps& steps);
};

const std::vector<Cell> cells = {
    {"elman", 1, false, false, [](const Tensors& x, const RecurrentSteps& s) { return elman(x[0], x[1], x[2], s); }},
    {"gru", 3, true, false, [](const Tensors& x, const RecurrentSteps& s) { return gru(x[0], x[1], x[2], x[3], s); }},
    {"lstm", 4, true, true, [](const Tensors& x, const RecurrentSteps& s) { return lstm(x[0], x[1], x[3], x[2], s); }}};

std::vector<CheckInput> operands(const Cell& cell, std::int64_t steps, std::int64_t rows, std::int64_t width) {
  const Domain half{-1, 1, 0};
  std::vector<CheckInput> out = {input({steps, rows, cell.gates * width}, 1), input({rows, width}, 2, half),
                                 input({cell.gates * width, width}, 3, half)};
  if (cell.more) out.push_back(input(cell.per_row ? Shape{rows, width} : Shape{width}, 4, half));
  return out;
}

// The sum of all outputs and states of a cell.
Tensor together(const Recurrence& r) {
  Tensor total = add(sum(mul(r.states, r.states)), sum(exp(r.last)));
  return r.cell.tape ? add(total, sum(tanh(r.cell))) : total;
}

} // namespace

TEST_CASE("every cell has the right gradient over sequences, either way, with and without padding", "[gradient]") {
  const std::int32_t lengths[] = {2, 0, 5};
  for (const Cell& cell : cells)
    for (const auto& [steps, rows, width] : {std::array{1, 1, 1}, {1, 3, 4}, {3, 2, 3}, {5, 3, 2}, {2, 2, 17}})
      for (bool reverse : {false, true})
        for (const std::int32_t* padding : {static_cast<const std::int32_t*>(nullptr), lengths})
          check_gradient(
              fmt::format("{}, {} steps of {} rows of width {}, reverse {}, padded {}", cell.name, steps, rows, width,
                          reverse, padding != nullptr),
              [&](const Tensors& x) { return together(cell.run(x, {.lengths = padding, .reverse = reverse})); },
              operands(cell, steps, rows, width));
}

TEST_CASE("a cell has the right gradient where only some of its results are used", "[gradient]") {
  for (const Cell& cell : cells) {
    const auto inputs = operands(cell, 3, 2, 3);
    check_gradient(
        cell.name + ", the last state", [&](const Tensors& x) { return cell.run(x, {}).last; }, inputs);
    check_gradient(
        cell.name + ", the first state", [&](const Tensors& x) { return slice(cell.run(x, {}).states, 0, 0, 1); },
        inputs);
    if (cell.per_row)
      check_gradient(
          cell.name + ", the memory", [&](const Tensors& x) { return cell.run(x, {}).cell; }, inputs);
  }
}

TEST_CASE("a cell has the right gradient through views of its operands", "[gradient]") {
  for (const Cell& cell : cells) {
    const auto inputs = operands(cell, 3, 2, 4);
    for (const View& view : views())
      for (std::size_t seen = 0; seen < inputs.size(); ++seen) {
        const Shape shape = inputs[seen].shape;
        if (!view.fits(shape)) continue;
        auto leaves = inputs;
        leaves[seen] = input(view.of(shape), 9, {-1, 1, 0});
        check_gradient(
            fmt::format("{}, operand {} {}", cell.name, seen, view.name),
            [&](const Tensors& x) {
              Tensors on = x;
              on[seen] = view.take(x[seen], shape);
              return cell.run(on, {}).states;
            },
            leaves);
      }
  }
}

TEST_CASE("a cell whose operands are one tensor has the right gradient", "[gradient]") {
  check_gradient("elman with its input as its state",
                 [](const Tensors& x) { return elman(unsqueeze(x[0], 0), x[0], x[1]).states; },
                 {input({3, 3}, 1), input({3, 3}, 2)});
  check_gradient("elman with its input as its weight",
                 [](const Tensors& x) { return elman(unsqueeze(x[0], 0), x[1], x[0]).states; },
                 {input({3, 3}, 1), input({3, 3}, 2)});
  check_gradient("elman, everything one tensor",
                 [](const Tensors& x) { return elman(unsqueeze(x[0], 0), x[0], x[0]).states; }, {input({3, 3}, 1)});
  check_gradient("lstm with its state as its memory",
                 [](const Tensors& x) { return lstm(x[0], x[1], x[1], x[2]).states; },
                 {input({2, 3, 8}, 1), input({3, 2}, 2), input({8, 2}, 3)});
}

TEST_CASE("a chain of steps has the right gradient", "[gradient]") {
  const std::int32_t lengths[] = {2, 3};
  check_gradient("elman, step by step",
                 [&](const Tensors& x) {
                   Tensor h = x[1];
                   for (int t = 0; t < 3; ++t) h = elman(x[0], h, x[2], {.lengths = lengths, .first = t}).last;
                   return h;
                 },
                 {input({1, 2, 3}, 1), input({2, 3}, 2), input({3, 3}, 3)});
  check_gradient("gru, step by step",
                 [&](const Tensors& x) {
                   Tensor h = x[1];
                   for (int t = 0; t < 3; ++t) h = gru(x[0], h, x[2], x[3], {.lengths = lengths, .first = t}).last;
                   return h;
                 },
                 {input({1, 2, 9}, 1), input({2, 3}, 2), input({9, 3}, 3), input({3}, 4)});
  check_gradient("lstm, step by step",
                 [&](const Tensors& x) {
                   Recurrence s{.states = {}, .last = x[1], .cell = x[3]};
                   for (int t = 0; t < 3; ++t) s = lstm(x[0], s.last, s.cell, x[2], {.lengths = lengths, .first = t});
                   return add(s.last, s.cell);
                 },
                 {input({1, 2, 12}, 1), input({2, 3}, 2), input({12, 3}, 3), input({2, 3}, 4)});
}

TEST_CASE("cells refuse operands that do not fit, and say which", "[gradient]") {
  Tape tape;
  const auto z = [&](const Shape& s) { return tape.zeros(s); };
  using Catch::Contains;
  CHECK_THROWS_WITH(elman(z({2, 3, 4}), z({3, 5}), z({5, 5})), Contains("[elman]") && Contains("[2, 3, 5]"));
  CHECK_THROWS_WITH(gru(z({2, 3, 15}), z({3, 5}), z({5, 5}), z({5})), Contains("[gru]") && Contains("[15, 5]"));
  CHECK_THROWS_WITH(gru(z({2, 3, 15}), z({3, 5}), z({15, 5}), z({15})), Contains("bias") && Contains("[5]"));
  CHECK_THROWS_WITH(lstm(z({2, 3, 20}), z({3, 5}), z({2, 5}), z({20, 5})), Contains("memory") && Contains("[3, 5]"));
  CHECK_THROWS_WITH(lstm(z({0, 3, 20}), z({3, 5}), z({3, 5}), z({20, 5})), Contains("no step"));
  CHECK_THROWS_WITH(elman(z({3, 5}), z({3, 5}), z({5, 5})), Contains("axes"));
}
