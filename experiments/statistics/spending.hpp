// Planned looks at a sweep before all of its seeds are there, and what each may spend of the level.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace heed::statistics {

/// The levels of looks at so many seeds each, n_1 < ... < n_K: by the spending function of Pocock's kind (Lan and DeMets
/// 1983, doi 10.1093/biomet/70.3.659), alpha(t) = alpha ln(1 + (e - 1) t), the look at t_k = n_k / n_K has
///     level_k = alpha(t_k) - alpha(t_{k-1}),   alpha(0) = 0.
/// They add up to `level`. So the chance that any look finds what isn't there is at most `level`, however the looks
/// depend on each other (Bonferroni's inequality): Lan and DeMets' own bounds, which use that dependence, are less strict,
/// but hold for normal increments and not for flips of six seeds.
/// Throws heed::Failed where the numbers are not above 0 and rising, and for a level outside (0, 1).
std::vector<double> look_levels(std::span<const std::size_t> looks, double level = 0.05);

} // namespace heed::statistics
