// For the scores that have a hidden layer (additive, concat): the option for the hidden layer's width, and the initial
// weights.
#pragma once

#include "layers/attention/score.hpp"

#include <cmath>

namespace heed::HEED_REAL::hidden_layer {

struct Options {
  std::int64_t hidden = 0;
};

inline const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(option("hidden", &Options::hidden,
                                                     "width of the hidden layer of each head")
                                                  .at_least(0)
                                                  .at_most(1e6)
                                                  .unit("features")
                                                  .default_means("0: the width of the head's queries"));
  return t;
}

inline std::int64_t width(const OptionValues& values, const ScoreSizes& sizes) {
  const Options options = table().read(values);
  return options.hidden ? options.hidden : sizes.query_width;
}

/// Weights with fan-in `in` start uniformly within 1 / sqrt(in).
inline Init start(std::int64_t in) { return Init::uniform(1.0 / std::sqrt(static_cast<double>(in))); }

} // namespace heed::HEED_REAL::hidden_layer
