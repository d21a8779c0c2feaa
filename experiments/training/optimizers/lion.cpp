#include "autograd/optimizer.hpp"
#include "experiments/training/optimizers.hpp"

namespace heed::HEED_REAL {

namespace {

struct Options {
  double beta1 = 0.9, beta2 = 0.99, weight_decay = 0.0;
};

const OptionTable<Options>& table() {
  using O = Options;
  static const auto t = option_table<O>(
      option("beta1", &O::beta1, "weight of the moment in the direction of the update").at_least(0).below(1),
      option("beta2", &O::beta2, "exponential decay rate of the moment").at_least(0).below(1),
      option("weight_decay", &O::weight_decay,
             "decay of matrices towards 0 by learning rate times this value, also of embeddings, but not of vectors, "
             "scales and temperatures")
          .at_least(0));
  return t;
}

/// Lion: c = beta1 m + (1 - beta1) g; w <- w - rate (sign(c) + decay w); m <- beta2 m + (1 - beta2) g.
class Lion : public Optimizer {
public:
  Lion(const Options& options, const Parameters& parameters)
      : Optimizer(parameters), options_(options), m_(static_cast<std::size_t>(parameters.extent())) {}

  std::vector<StateArray> state(const Parameters& parameters) override {
    std::vector<StateArray> out;
    append_like(parameters, "lion.m", m_, out);
    return out;
  }

private:
  void update_one(const Update& u) override {
    const double decay = u.entry.decay == WeightDecay::yes ? options_.weight_decay : 0;
    const auto factor = static_cast<Real>(u.factor), rate = static_cast<Real>(u.learning_rate),
               kept = static_cast<Real>(1 - u.learning_rate * decay);
    const auto beta1 = static_cast<Real>(options_.beta1), rest1 = static_cast<Real>(1 - options_.beta1),
               beta2 = static_cast<Real>(options_.beta2), rest2 = static_cast<Real>(1 - options_.beta2);
    Real* const m = m_.data() + u.entry.offset;
    for (std::int64_t i = 0, n = u.entry.shape.size(); i < n; ++i) {
      const Real g = factor * u.gradients[i], c = beta1 * m[i] + rest1 * g;
      // If c is NaN, the sign is NaN too, so that the NaN is not hidden by a step of 0.
      const Real sign = c > 0 ? Real{1} : c < 0 ? Real{-1} : c;
      u.values[i] = kept * u.values[i] - rate * sign;
      m[i] = beta2 * m[i] + rest2 * g;
    }
  }

  Options options_;
  PagedVector<Real> m_;
};

} // namespace

extern const OptimizerInfo optimizer_lion{
    .about = {.name = "lion",
              .summary = "updates of equal size for every parameter, by the sign of a moment, with decoupled weight "
                         "decay",
              .paper = "Chen et al. 2023, arXiv 2302.06675",
              .cost = "memory: one value for each parameter; learning rates are three to ten times smaller than "
                      "AdamW's",
              .options = table().options()},
    .make = made_of<Lion, table>};

} // namespace heed::HEED_REAL
