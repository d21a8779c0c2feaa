#include "autograd/optimizers/sgd.hpp"

#include "autograd/error.hpp"
#include "experiments/training/optimizers.hpp"

namespace heed::HEED_REAL {

namespace {

const OptionTable<SgdOptions>& table() {
  using O = SgdOptions;
  static const auto t = option_table<O>(
      option("momentum", &O::momentum, "how much of the previous update's direction is carried over")
          .at_least(0)
          .below(1),
      option("weight_decay", &O::weight_decay,
             "decay of matrices towards 0, also of embeddings, but not of vectors, scales and temperatures")
          .at_least(0),
      option("nesterov", &O::nesterov, "Nesterov momentum"));
  return t;
}

std::unique_ptr<Optimizer> make(const OptionValues& values, const Parameters& parameters) {
  const SgdOptions options = table().read(values);
  if (options.nesterov && options.momentum == 0)
    throw Refused("train.sgd.nesterov does nothing where train.sgd.momentum is 0: set a momentum, such as 0.9, or "
                  "leave nesterov out");
  return std::make_unique<Sgd>(options, parameters);
}

} // namespace

extern const OptimizerInfo optimizer_sgd{.about = {.name = "sgd",
                                                   .summary = "stochastic gradient descent with momentum",
                                                   .paper = "Robbins and Monro 1951; Polyak 1964",
                                                   .cost = "memory: one value for each parameter",
                                                   .options = table().options()},
                                         .make = make};

} // namespace heed::HEED_REAL
