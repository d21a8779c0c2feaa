// Simulated situations that go through a whole report: looks, further metrics, targets that runs do not reach, tuned
// arms, interactions, several arms' shares, and unpaired arms of different sizes. Each function prints its table and
// checks what is promised.
#pragma once

#include "tests/simulation/results.hpp"

#include <cstddef>

namespace heed::simulation {

void looks(Points& points, std::size_t sweeps);
void different_sizes(Points& points, std::size_t sweeps);
void targets(Points& points, std::size_t sweeps);
void tuned_arms(Points& points, std::size_t sweeps);
void further_metrics(Points& points, std::size_t sweeps);
void crossed_options(Points& points, std::size_t sweeps);
void groups(Points& points, std::size_t sweeps);
void shares_of_arms(Points& points, std::size_t sweeps);

} // namespace heed::simulation
