#include "experiments/statistics/tuning_choice.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace heed::statistics {

TuningChoice tuning_choice(std::span<const double> results, double deviation, std::size_t tuning_seeds,
                           bool higher_is_better) {
  if (results.empty() || tuning_seeds == 0) throw Failed("[statistics] a choice is among one result at least");
  constexpr std::uint64_t draws = 2000, seed = 0x7475'6e65; // its value is arbitrary
  const double error = deviation / std::sqrt(static_cast<double>(tuning_seeds)), sign = higher_is_better ? 1 : -1;
  const auto best_of = [&](const std::vector<double>& of) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < of.size(); ++i)
      if (sign * of[i] > sign * of[best]) best = i;
    return best;
  };
  const std::size_t chosen = best_of({results.begin(), results.end()});
  std::vector<double> drawn(results.size()), of_choice;
  std::size_t others = 0;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    RandomSource random({seed, Stream::sampling, draw});
    for (std::size_t i = 0; i < results.size(); ++i) drawn[i] = results[i] + error * random.normal();
    const std::size_t best = best_of(drawn);
    others += best != chosen;
    of_choice.push_back(results[best]);
  }
  const double spread = standard_deviation(of_choice).value_or(0);
  return {spread * spread, static_cast<double>(others) / static_cast<double>(draws)};
}

std::optional<double> answered_p(const Comparison& c) {
  if (c.answer == Answer::same) return c.p_equivalence_flips;
  if (c.answer == Answer::better) return c.noninferiority->p_better;
  return c.answer == Answer::worse ? c.noninferiority->p_worse : c.p;
}

double p_with_choices(const Comparison& comparison, double error, double freedom, double choices) {
  const bool same = comparison.answer == Answer::same;
  const double own = answered_p(comparison).value_or(1), all = error + choices;
  if (!(choices > 0) || !(all > 0)) return own;
  // Only the first term is estimated from few values.
  const double of_all = error > 0 ? freedom * (all / error) * (all / error) : 1e9;
  const double distance = std::abs(comparison.difference.mean), standard_error = std::sqrt(all);
  if (const auto& of = comparison.noninferiority) {
    const double beyond = comparison.answer == Answer::better  ? of->difference
                          : comparison.answer == Answer::worse ? -of->margin - of->difference
                                                               : of->margin + of->difference;
    return std::max(own, student_above(of_all, beyond / standard_error));
  }
  const double p = same ? student_above(of_all, (comparison.margin.value_or(0) - distance) / standard_error)
                        : 2 * student_above(of_all, distance / standard_error);
  return std::max(own, p);
}

} // namespace heed::statistics
