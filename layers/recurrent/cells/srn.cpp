#include "layers/recurrent/cell.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

class Elman : public RecurrentCell {
public:
  Elman(const Scope& scope, std::int64_t width) : weight_(scope.weight("weight", {width, width})) {}

  Recurrence operator()(Pass& pass, const Tensor& x, const RecurrentState& before,
                        const RecurrentSteps& steps) const override {
    return elman(x, before.h, pass(weight_), steps);
  }

private:
  ParameterId weight_;
};

void step(const CellArguments& a) {
  const std::vector<Real> h(a.h, a.h + a.width);
  for (std::int64_t i = 0; i < a.width; ++i) {
    Real sum = a.x[i];
    for (std::int64_t j = 0; j < a.width; ++j) sum += a.parameters[0][i * a.width + j] * h[static_cast<std::size_t>(j)];
    a.h[i] = std::tanh(sum);
  }
}

} // namespace

extern const RecurrentCellInfo cell_srn{
    .about = {.name = "srn",
              .summary = "h' = tanh(x + W h), x the projected input",
              .paper = "Elman 1990, Finding structure in time",
              .equals = "torch.nn.RNN with b_ih + b_hh as the input's bias",
              .cost = "H^2 parameters in addition to the input's; one product and H tanh for each step"},
    .gates = 1,
    .has_memory = false,
    .make = [](const Scope& scope, std::int64_t width, const OptionValues&) -> std::unique_ptr<RecurrentCell> {
      return std::make_unique<Elman>(scope, width);
    },
    .step = step};

} // namespace heed::HEED_REAL
