// What reports promise, over a grid of noises, spreads, seeds and arms: error rates, coverage of all intervals at once,
// and the power at the difference that an undecided arm's sentence states.
#pragma once

#include "tests/simulation/results.hpp"

#include <cstddef>

namespace heed::simulation {

/// @param all  the whole grid; otherwise its cells that take little time
void paired_grid(Points& points, std::size_t sweeps, bool all);
void unpaired_grid(Points& points, std::size_t sweeps, bool all);
void smallest_differences(Points& points, std::size_t sweeps, bool all);
/// Whether arms are not worse than their reference by more than a margin.
void not_worse(Points& points, std::size_t tables, bool all);
/// Arms of which a tenth of the runs fails to learn, and falls by far more than the margin.
void rare_failures(Points& points, std::size_t sweeps);
/// Intervals of a difference over other seeds and other examples.
void other_examples(Points& points, std::size_t tables, bool all);

} // namespace heed::simulation
