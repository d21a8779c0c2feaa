#include "layers/recurrent/cell.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

class Gru : public RecurrentCell {
public:
  Gru(const Scope& scope, std::int64_t width)
      : weight_(scope.weight("weight", {3 * width, width})), bias_(scope.no_decay("bias", {width}, Init::zeros())) {}

  Recurrence operator()(Pass& pass, const Tensor& x, const RecurrentState& before,
                        const RecurrentSteps& steps) const override {
    return gru(x, before.h, pass(weight_), pass(bias_), steps);
  }

private:
  ParameterId weight_, bias_;
};

Real logistic(Real x) { return 1 / (1 + std::exp(-x)); }

void step(const CellArguments& a) {
  const std::vector<Real> h(a.h, a.h + a.width);
  const auto product = [&](std::int64_t row) {
    Real sum = 0;
    for (std::int64_t j = 0; j < a.width; ++j)
      sum += a.parameters[0][row * a.width + j] * h[static_cast<std::size_t>(j)];
    return sum;
  };
  for (std::int64_t i = 0; i < a.width; ++i) {
    const Real r = logistic(a.x[i] + product(i));
    const Real z = logistic(a.x[a.width + i] + product(a.width + i));
    const Real n = std::tanh(a.x[2 * a.width + i] + r * (product(2 * a.width + i) + a.parameters[1][i]));
    a.h[i] = (1 - z) * n + z * h[static_cast<std::size_t>(i)];
  }
}

} // namespace

extern const RecurrentCellInfo cell_gru{
    .about = {.name = "gru",
              .summary =
                  "r, z = sigmoid(x + W h), n = tanh(x + r (W h + b)), h' = (1 - z) n + z h, x the projected input",
              .paper = "Cho et al. 2014, arXiv 1406.1078",
              .equals = "torch.nn.GRU with b_hn as b, and b_ih + b_hh for r and z as the input's bias",
              .cost = "3 H^2 + H parameters in addition to the input's; one product, 2 H sigmoid and H tanh for each "
                      "step"},
    .gates = 3,
    .has_memory = false,
    .make = [](const Scope& scope, std::int64_t width, const OptionValues&) -> std::unique_ptr<RecurrentCell> {
      return std::make_unique<Gru>(scope, width);
    },
    .step = step};

} // namespace heed::HEED_REAL
