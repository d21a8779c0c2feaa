#include "layers/recurrent/cell.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

class Lstm : public RecurrentCell {
public:
  Lstm(const Scope& scope, std::int64_t width) : weight_(scope.weight("weight", {4 * width, width})) {}

  Recurrence operator()(Pass& pass, const Tensor& x, const RecurrentState& before,
                        const RecurrentSteps& steps) const override {
    return lstm(x, before.h, before.c, pass(weight_), steps);
  }

private:
  ParameterId weight_;
};

Real logistic(Real x) { return 1 / (1 + std::exp(-x)); }

void step(const CellArguments& a) {
  const std::vector<Real> h(a.h, a.h + a.width);
  const auto sum = [&](std::int64_t gate, std::int64_t i) {
    const std::int64_t row = gate * a.width + i;
    Real s = a.x[row];
    for (std::int64_t j = 0; j < a.width; ++j) s += a.parameters[0][row * a.width + j] * h[static_cast<std::size_t>(j)];
    return s;
  };
  for (std::int64_t i = 0; i < a.width; ++i) {
    a.c[i] = logistic(sum(1, i)) * a.c[i] + logistic(sum(0, i)) * std::tanh(sum(2, i));
    a.h[i] = logistic(sum(3, i)) * std::tanh(a.c[i]);
  }
}

} // namespace

extern const RecurrentCellInfo cell_lstm{
    .about = {.name = "lstm",
              .summary = "i, f, o = sigmoid(x + W h), g = tanh(x + W h), c' = f c + i g, h' = o tanh(c'), x the "
                         "projected input",
              .paper = "Hochreiter and Schmidhuber 1997; Gers, Schmidhuber and Cummins 2000 (the forget gate)",
              .equals = "torch.nn.LSTM with b_ih + b_hh as the input's bias",
              .cost = "4 H^2 parameters in addition to the input's; one product, 3 H sigmoid and 2 H tanh for each "
                      "step"},
    .gates = 4,
    .has_memory = true,
    .make = [](const Scope& scope, std::int64_t width, const OptionValues&) -> std::unique_ptr<RecurrentCell> {
      return std::make_unique<Lstm>(scope, width);
    },
    .step = step};

} // namespace heed::HEED_REAL
