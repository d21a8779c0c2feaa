#include "experiments/sweep/planned_looks.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/power.hpp"
#include "experiments/statistics/spending.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace heed {

void check_looks(const LookSpec& spec, const Plan& plan) {
  if (spec.seeds.empty()) return;
  if (plan.looks.back() != plan.seeds.size())
    throw Refused(spec.origin.text() + ": " +
                  fmt::format("[sweep] looks ends at {} seeds, and there are {}: the last look is at all seeds; "
                              "end it with {}, or set sweep.seeds",
                              plan.looks.back(), plan.seeds.size(), plan.seeds.size()));
  const std::vector<double> levels = statistics::look_levels(plan.looks);
  const auto compared = std::ranges::count_if(plan.arms,
                                              [&](const Arm& arm) { return &plan.arms[arm.reference] != &arm; });
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const std::size_t n = plan.looks[k];
    const double smallest = plan.test == "unpaired"
                                ? std::min(1.0, static_cast<double>(std::max<std::ptrdiff_t>(compared, 1)) *
                                                    statistics::smallest_unpaired_p(n, n))
                                : statistics::smallest_p(n);
    if (smallest > levels[k])
      throw Refused(spec.origin.text() + ": " +
                    fmt::format("[sweep] looks: with {} seeds no p is below {:.2g}, and of looks at {} seeds the one "
                                "at {} may spend {:.2g}; look later, or use fewer looks",
                                n, smallest, fmt::join(plan.looks, ", "), n, levels[k]));
  }
}

} // namespace heed
