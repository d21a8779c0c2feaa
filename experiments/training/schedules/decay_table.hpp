// The option of the schedules that decay to a configured final rate.
#pragma once

#include "experiments/training/schedules.hpp"

namespace heed {

struct Decay {
  double final_factor = 0.0;
};

inline const OptionTable<Decay>& decay_table() {
  static const auto t = option_table<Decay>(option("final_factor", &Decay::final_factor,
                                                   "the rate at the last step, as a fraction of the highest")
                                                .between(0, 1));
  return t;
}

} // namespace heed
