// Holm's correction of p values for multiple comparisons.
#pragma once

#include <span>
#include <vector>

namespace heed::statistics {

/// Holm's step-down correction (1979, Scandinavian Journal of Statistics 6, 65-70): the i-th smallest of m p values is
/// multiplied by m - i + 1, raised to the previous one if it is smaller, and limited to 1. Results are in the order of
/// `p`.
std::vector<double> holm(std::span<const double> p);

} // namespace heed::statistics
