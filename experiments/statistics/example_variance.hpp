// The interval of a difference over other seeds and other examples: both are random, and all runs are evaluated on the
// same examples.
#pragma once

#include "experiments/statistics/summary.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

/// With fewer examples, no interval over other examples is stated.
inline constexpr std::size_t fewest_examples = 30;

/// A mean difference with its interval over seeds and examples.
struct OverExamples {
  std::size_t examples = 0;
  double mean = 0;
  Interval interval = {};       ///< Student's t
  double freedom = 0;           ///< degrees of freedom of t
  double share_of_examples = 0; ///< of the squared error of the mean; the rest is from seeds
};

/// D_se is the difference of two runs of seed s on example e, with n seeds and m examples. Seeds and examples are
/// crossed random effects, so the mean has the variance
///     V = (MS_seed + MS_example - MS_residual) / (n m), at least MS_seed / (n m),
/// with the mean squares of the two-way analysis of variance without replication, and Satterthwaite's degrees of
/// freedom (1946, doi 10.2307/3002019), at least n - 1. The interval is mean -+ t sqrt(V).
/// @param a, b  rows of the same seeds, in the same order, with a value of each example
/// Empty with fewer than two seeds or `fewest_examples` examples, and if V is 0. Throws heed::Failed for rows of
/// unequal lengths.
std::optional<OverExamples> over_examples(std::span<const std::vector<double>> a,
                                          std::span<const std::vector<double>> b, double confidence = 0.95);

/// The same for runs that are not paired by seed. The part of the seeds is that of Welch's t test; the part of the
/// examples is the variance of the differences of the arms' means of each example, less what the seeds add to it:
///     V = s_a^2 / n_a + s_b^2 / n_b + max(0, s_D^2 - MS_residual,a / n_a - MS_residual,b / n_b) / m.
std::optional<OverExamples> over_examples_unpaired(std::span<const std::vector<double>> a,
                                                   std::span<const std::vector<double>> b, double confidence = 0.95);

} // namespace heed::statistics
