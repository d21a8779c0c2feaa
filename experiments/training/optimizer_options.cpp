#include "experiments/training/optimizer_options.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/training/variants.hpp"

#include <fmt/format.h>

namespace heed {

namespace {

const OptionTable<AdamConfig>& adam_table() {
  using O = AdamConfig;
  static const auto t = option_table<O>(
      option("beta1", &O::beta1, "how much of the mean gradient stays at each step").at_least(0).below(1),
      option("beta2", &O::beta2, "how much of the mean squared gradient stays at each step").at_least(0).below(1),
      option("epsilon", &O::epsilon, "added to the square root that divides").above(0),
      option("weight_decay", &O::weight_decay,
             "pulls matrices towards 0, embeddings among them; vectors, scales and temperatures are left alone")
          .at_least(0));
  return t;
}

const OptionTable<SgdConfig>& sgd_table() {
  using O = SgdConfig;
  static const auto t = option_table<O>(
      option("momentum", &O::momentum, "how much of the last step's direction stays").at_least(0).below(1),
      option("weight_decay", &O::weight_decay,
             "pulls matrices towards 0, embeddings among them; vectors, scales and temperatures are left alone")
          .at_least(0),
      option("nesterov", &O::nesterov, "does the step look ahead along the momentum?"));
  return t;
}

SgdConfig sgd(const OptionValues& options) {
  SgdConfig c = sgd_table().read(options);
  if (c.nesterov && c.momentum == 0)
    throw Refused("train.sgd.nesterov does nothing where train.sgd.momentum is 0: set a momentum, such as 0.9, or "
                  "leave nesterov out");
  return c;
}

struct Entry {
  Variant about;
  OptimizerChoice (*read)(const OptionValues& options);
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all{
      {{"adamw", "adaptive moments, with weight decay apart from the gradient",
        "Loshchilov and Hutter 2019, arXiv 1711.05101", "adam with weight_decay = 0", "two numbers for each parameter",
        adam_table().options(), {}},
       [](const OptionValues& o) { return OptimizerChoice{adam_table().read(o), false, {}}; }},
      {{"adam", "adaptive moments, with weight decay added to the gradient", "Kingma and Ba 2015, arXiv 1412.6980", "",
        "two numbers for each parameter", adam_table().options(), {}},
       [](const OptionValues& o) { return OptimizerChoice{adam_table().read(o), true, {}}; }},
      {{"sgd", "stochastic gradient descent with momentum", "Robbins and Monro 1951; Polyak 1964", "",
        "one number for each parameter", sgd_table().options(), {}},
       [](const OptionValues& o) { return OptimizerChoice{{}, false, sgd(o)}; }}};
  return all;
}

} // namespace

OptimizerChoice optimizer_choice(const Config& config) {
  for (const Entry& e : entries())
    if (e.about.name == config.train.optimizer) return e.read(config.optimizer_options);
  throw Failed(fmt::format("[train] there is no optimizer '{}'", config.train.optimizer));
}

VariantFamily optimizer_family() {
  VariantFamily family{"optimiser", "train", "optimizer", {}};
  for (const Entry& e : entries()) family.variants.push_back(&e.about);
  return family;
}

} // namespace heed
