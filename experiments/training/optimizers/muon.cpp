#include "autograd/ops.hpp"
#include "autograd/optimizer.hpp"
#include "experiments/training/optimizers.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double momentum = 0.95, weight_decay = 0.1, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  bool nesterov = true;
};

const OptionTable<Options>& table() {
  using O = Options;
  static const auto t = option_table<O>(
      option("momentum", &O::momentum, "exponential decay rate of a matrix's moment").at_least(0).below(1),
      option("weight_decay", &O::weight_decay,
             "decay of matrices towards 0 by learning rate times this value, also of embeddings, but not of vectors, "
             "scales and temperatures")
          .at_least(0),
      option("beta1", &O::beta1, "beta1 of AdamW, for all parameters that are not linear layers of the model")
          .at_least(0)
          .below(1),
      option("beta2", &O::beta2, "beta2 of AdamW, for the same parameters").at_least(0).below(1),
      option("epsilon", &O::epsilon, "epsilon of AdamW, for the same parameters").above(0),
      option("nesterov", &O::nesterov, "Nesterov momentum for the matrices"));
  return t;
}

/// Approximates U V^T of X = U S V^T by five Newton-Schulz steps X <- a X + (b A + c A A) X with A = X X^T. The
/// coefficients of Jordan et al. (2024) increase small singular values fast, so the singular values of the result are
/// close to 1 but not equal to it.
Tensor orthogonal(Tape& tape, const Real* numbers, std::int64_t rows, std::int64_t columns) {
  constexpr Real a = Real(3.4445), b = Real(-4.7750), c = Real(2.0315);
  constexpr int steps = 5;
  constexpr double least_norm = 1e-7;
  const std::int64_t size = rows * columns;
  double squares = 0;
  for (std::int64_t i = 0; i < size; ++i) squares += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
  Tensor x = scale(tape.constant(numbers, {rows, columns}),
                   static_cast<Real>(1 / std::max(std::sqrt(squares), least_norm)));
  if (rows > columns) x = contiguous(transpose(x));
  for (int step = 0; step < steps; ++step) {
    const Tensor gram = matmul(x, transpose(x));
    x = add(scale(x, a), matmul(add(scale(gram, b), scale(matmul(gram, gram), c)), x));
  }
  return contiguous(rows > columns ? transpose(x) : x);
}

/// Muon. For an r x c weight matrix of a linear layer: M <- momentum M + G; W <- W (1 - rate decay) - 0.2 sqrt(max(r,
/// c)) rate orthogonal(M). With nesterov, orthogonal(G + momentum M). The factor makes steps as large as AdamW's. All
/// other parameters use AdamW.
class Muon : public Optimizer {
public:
  Muon(const Options& options, const Parameters& parameters)
      : Optimizer(parameters), options_(options), m_(static_cast<std::size_t>(parameters.extent())),
        v_(static_cast<std::size_t>(parameters.extent())) {}

  std::vector<StateArray> state(const Parameters& parameters) override {
    std::vector<StateArray> out, of_squares;
    append_like(parameters, "muon.m", m_, out);
    append_like(parameters, "muon.v", v_, of_squares);
    for (std::size_t i = 0; i < of_squares.size(); ++i)
      if (!parameters.entries()[i].is_map) out.push_back(of_squares[i]);
    return out;
  }

private:
  void update_one(const Update& u) override { u.entry.is_map ? update_map(u) : update_other(u); }

  Real kept(const Update& u) const {
    return static_cast<Real>(u.entry.decay == WeightDecay::yes ? 1 - u.learning_rate * options_.weight_decay : 1);
  }

  /// Updates each matrix separately: one parameter holds the matrices of queries, keys and values, stacked by rows.
  void update_map(const Update& u) {
    const Shape& s = u.entry.shape;
    const std::vector<std::int64_t> whole(static_cast<std::size_t>(s.size() / (s[-2] * s[-1])), s[-2]);
    std::int64_t at = 0;
    for (const std::int64_t rows : u.entry.parts.empty() ? whole : u.entry.parts) {
      update_matrix(u, at, rows, s[-1]);
      at += rows * s[-1];
    }
  }

  void update_matrix(const Update& u, std::int64_t at, std::int64_t rows, std::int64_t columns) {
    const std::int64_t size = rows * columns;
    const auto momentum = static_cast<Real>(options_.momentum), factor = static_cast<Real>(u.factor),
               rate = static_cast<Real>(u.learning_rate * 0.2 *
                                        std::sqrt(static_cast<double>(std::max(rows, columns))));
    Tape tape;
    tape.record(false);
    std::vector<Real> ahead(static_cast<std::size_t>(size));
    Real* const m = m_.data() + u.entry.offset + at;
    for (std::int64_t i = 0; i < size; ++i) {
      const Real g = factor * u.gradients[at + i];
      m[i] = momentum * m[i] + g;
      ahead[static_cast<std::size_t>(i)] = options_.nesterov ? g + momentum * m[i] : m[i];
    }
    const Tensor step = orthogonal(tape, ahead.data(), rows, columns);
    for (std::int64_t i = 0; i < size; ++i) u.values[at + i] = kept(u) * u.values[at + i] - rate * step.data[i];
  }

  void update_other(const Update& u) {
    const double t = static_cast<double>(u.step);
    const auto beta1 = static_cast<Real>(options_.beta1), beta2 = static_cast<Real>(options_.beta2),
               factor = static_cast<Real>(u.factor), epsilon = static_cast<Real>(options_.epsilon),
               size1 = static_cast<Real>(1 - std::pow(options_.beta1, t)),
               size2 = static_cast<Real>(1 - std::pow(options_.beta2, t)), rate = static_cast<Real>(u.learning_rate);
    Real *const m = m_.data() + u.entry.offset, *const v = v_.data() + u.entry.offset;
    for (std::int64_t i = 0, n = u.entry.shape.size(); i < n; ++i) {
      const Real g = factor * u.gradients[i];
      m[i] = beta1 * m[i] + (1 - beta1) * g;
      v[i] = beta2 * v[i] + (1 - beta2) * g * g;
      u.values[i] = kept(u) * u.values[i] - rate * (m[i] / size1) / (std::sqrt(v[i] / size2) + epsilon);
    }
  }

  Options options_;
  PagedVector<Real> m_, v_; // v_: only for parameters that AdamW updates
};

} // namespace

extern const OptimizerInfo optimizer_muon{
    .about =
        {.name = "muon",
         .summary = "updates of matrices: the moment, with all singular values brought to about 1; queries, keys and "
                    "values, and the two matrices of a gated network, each by itself; parameters that are not linear "
                    "layers within the model have AdamW's updates",
         .paper = "Jordan et al. 2024, kellerjordan.github.io/posts/muon; Liu et al. 2025, arXiv 2502.16982 (the "
                  "scale of steps, weight decay)",
         .cost = "memory: one value for each parameter of a linear layer, two for each other; a step takes five times "
                 "three matrix products",
         .options = table().options()},
    .make = made_of<Muon, table>};

} // namespace heed::HEED_REAL
