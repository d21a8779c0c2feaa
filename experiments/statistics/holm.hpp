// Correction of p values for how many there are.
#pragma once

#include <span>
#include <vector>

namespace heed::statistics {

/// Holm's step-down correction (1979, Scandinavian Journal of Statistics 6, 65-70): of m values, the i-th smallest is
/// multiplied by m - i + 1, is at least the one before it, and at most 1. In the order of `p`.
std::vector<double> holm(std::span<const double> p);

} // namespace heed::statistics
