#include "experiments/sweep/planned_looks.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/power.hpp"
#include "experiments/statistics/spending.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <vector>

namespace heed {

double smallest_p_of(const Plan& plan, std::size_t seeds) {
  if (plan.test != "unpaired") return statistics::smallest_p(seeds);
  const auto compared = std::ranges::count_if(plan.arms,
                                              [&](const Arm& arm) { return &plan.arms[arm.reference] != &arm; });
  return std::min(1.0, static_cast<double>(std::max<std::ptrdiff_t>(compared, 1)) *
                           statistics::smallest_unpaired_p(seeds, seeds));
}

namespace {

/// The first of the looks at which no p can be small enough.
std::optional<std::size_t> first_without_power(const Plan& plan, const std::vector<std::size_t>& looks) {
  const std::vector<double> levels = statistics::look_levels(looks);
  for (std::size_t k = 0; k < levels.size(); ++k)
    if (smallest_p_of(plan, looks[k]) > levels[k]) return k;
  return std::nullopt;
}

/// "the first look that can find a difference among 10 seeds is at 6: looks = [6, 10]"
std::string possible_looks(const Plan& plan) {
  constexpr std::size_t most = 1000;
  for (std::size_t seeds = plan.seeds.size(); seeds <= most; ++seeds)
    for (std::size_t first = 2; first < seeds; ++first) {
      if (first_without_power(plan, {first, seeds})) continue;
      const std::string looks = fmt::format("looks = [{}, {}]", first, seeds);
      if (seeds == plan.seeds.size())
        return fmt::format("with {} seeds, the first look can be at {}: {}", seeds, first, looks);
      return fmt::format("{} seeds are too few for two looks; remove looks, or take sweep.seeds = {} with {}",
                         plan.seeds.size(), seeds, looks);
    }
  return "remove looks";
}

} // namespace

void check_looks(const LookSpec& spec, const Plan& plan) {
  if (spec.seeds.empty()) return;
  if (plan.looks.back() != plan.seeds.size())
    throw Refused(spec.origin.text() + ": " +
                  fmt::format("[sweep] looks ends at {} seeds, and there are {}: the last look must use all seeds; end "
                              "the list with {}, or set sweep.seeds",
                              plan.looks.back(), plan.seeds.size(), plan.seeds.size()));
  const std::optional<std::size_t> bad = first_without_power(plan, plan.looks);
  if (!bad) return;
  const std::size_t n = plan.looks[*bad];
  throw Refused(fmt::format("{}: [sweep] looks: with {} seeds, p is at least {:.2g}, and of the looks at {} seeds, the "
                            "one at {} may use only {:.2g}; {}",
                            spec.origin.text(), n, smallest_p_of(plan, n), fmt::join(plan.looks, ", "), n,
                            statistics::look_levels(plan.looks)[*bad], possible_looks(plan)));
}

} // namespace heed
