// Numbers by distance: between [.., queries, distances] and [.., queries, keys].
//
// Key j is at distance j - (i + offset) from query i, and distances beyond -clip and clip count as these (Shaw,
// Uszkoreit and Vaswani 2018, arXiv 1803.02155, section 3.2); distance d stands at column d + clip of 2 clip + 1. The
// two operations are each other's gradient.
#pragma once

#include "autograd/ops.hpp"

namespace heed::HEED_REAL {

/// y_ij = p_i,d(i, j): p [..., Tq, 2 clip + 1] to y [..., Tq, keys].
Tensor by_distance(const Tensor& p, std::int64_t keys, std::int64_t offset = 0);

/// y_id = the sum of w_ij over the keys j at distance d: w [..., Tq, Tk] to y [..., Tq, 2 clip + 1].
Tensor sum_by_distance(const Tensor& w, std::int64_t clip, std::int64_t offset = 0);

} // namespace heed::HEED_REAL
