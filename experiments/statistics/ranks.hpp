// Ranks: tests by them need only the order of the values.
#pragma once

#include <vector>

namespace heed::statistics {

/// Replaces the values of two samples by their ranks among all values of both, beginning with 1. Equal values share
/// their mean rank. Values may be infinite.
void rank_together(std::vector<double>& a, std::vector<double>& b);

} // namespace heed::statistics
