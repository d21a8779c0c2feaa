// The C++ code of docs/engine.md, compiled and tried. tests/architecture/primer_test.py compares this file with the
// page.
#include "layers/linear.hpp"
#include "tests/layers/layer_support.hpp"

#include <cmath>
#include <vector>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

struct GatedUnit {
  Linear gate, up, down;

  GatedUnit(const Scope& scope, std::int64_t width, std::int64_t hidden)
      : gate(scope / "gate", width, hidden, false), up(scope / "up", width, hidden, false),
        down(scope / "down", hidden, width, false) {}

  Tensor operator()(Pass& pass, const Tensor& x) const { return down(pass, mul(silu(gate(pass, x)), up(pass, x))); }
};

/// The sum of squares of the unit's outputs, in plain loops.
double expected_loss(const Parameters& parameters, const std::vector<Real>& x) {
  const auto weight = [&](const char* name, std::size_t row, std::size_t column) {
    const auto& entry = *parameters.find(name);
    const auto columns = static_cast<std::size_t>(entry.shape[1]);
    return static_cast<double>(parameters.values()[static_cast<std::size_t>(entry.offset) + row * columns + column]);
  };
  double loss = 0;
  for (std::size_t b = 0; b < 4; ++b) {
    std::vector<double> hidden(16);
    for (std::size_t h = 0; h < 16; ++h) {
      double gate = 0, up = 0;
      for (std::size_t i = 0; i < 8; ++i) {
        gate += weight("gate.weight", h, i) * static_cast<double>(x[b * 8 + i]);
        up += weight("up.weight", h, i) * static_cast<double>(x[b * 8 + i]);
      }
      hidden[h] = gate / (1 + std::exp(-gate)) * up;
    }
    for (std::size_t o = 0; o < 8; ++o) {
      double y = 0;
      for (std::size_t h = 0; h < 16; ++h) y += weight("down.weight", o, h) * hidden[h];
      loss += y * y;
    }
  }
  return loss;
}

} // namespace

TEST_CASE("the primer's training step computes its loss, and lowers it", "[primer]") {
  std::vector<Real> x(4 * 8);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<Real>(std::sin(static_cast<double>(i)));

  Parameters parameters;
  const GatedUnit unit(Scope(parameters, Init::normal(0.2)), 8, 16);
  parameters.initialise(1); // the seed
  std::vector<Real> gradients(static_cast<std::size_t>(parameters.extent()));
  const double before = expected_loss(parameters, x);

  Tape tape;
  Pass pass(tape, parameters, gradients.data(), {.training = true});
  const Tensor y = unit(pass, tape.constant(x.data(), {4, 8}));
  const Tensor loss = sum(mul(y, y));
  tape.backward(loss);
  pass.finish_gradients();
  CHECK(static_cast<double>(loss.item()) == Approx(before).epsilon(1e-5));
  for (std::size_t i = 0; i < gradients.size(); ++i) parameters.values()[i] -= Real(0.01) * gradients[i];
  tape.rewind(); // y and loss are not valid any more

  const double after = expected_loss(parameters, x);
  double squares = 0;
  for (const Real g : gradients) squares += static_cast<double>(g) * static_cast<double>(g);
  CHECK(squares > 0);
  CHECK(before - after == Approx(0.01 * squares).epsilon(0.1)); // to first order
}
