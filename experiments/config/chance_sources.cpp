#include "experiments/config/chance_sources.hpp"

#include "experiments/config/config.hpp"

#include <algorithm>

namespace heed {

std::span<const ChanceSource> chance_sources() {
  static constexpr ChanceSource all[] = {{"init", "init.seed", "initial weights", &Config::init_seed, true},
                                         {"order", "data.order_seed", "order of data", &Config::order_seed, true},
                                         {"dropout", "train.dropout_seed", "dropout", &Config::dropout_seed, true},
                                         {"split", "data.split_seed", "data split", &Config::split_seed, false}};
  return all;
}

const ChanceSource* find_chance_source(std::string_view name) {
  const auto all = chance_sources();
  const auto found = std::ranges::find(all, name, &ChanceSource::name);
  return found == all.end() ? nullptr : &*found;
}

} // namespace heed
