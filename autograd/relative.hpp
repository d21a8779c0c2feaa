// Relative positions in attention: biases that depend on the distance between a query and a key, and sums of weights by
// distance.
//
// Key j is at distance j - (i + offset) from query i. Distances are clipped to [-clip, clip] (Shaw, Uszkoreit and
// Vaswani 2018, arXiv 1803.02155, section 3.2). Distance d is column d + clip of 2 clip + 1 columns.
#pragma once

#include "autograd/attention_bias.hpp"

namespace heed::HEED_REAL {

/// Adds to the score of (i, j) the value of its distance, from numbers [B or 1, H or 1, Tq or 1, 2 clip + 1]. A bias by
/// head and distance, fixed or learned, is therefore a tensor.
AttentionBias* bias_by_distance(const Tensor& numbers, std::int64_t offset = 0);

/// Adds q_i . a(distance) to the score of (i, j): queries [B, H, Tq, D], and vectors a [H or 1, n, D] for the distances
/// lowest, ..., lowest + n - 1. Distances beyond an end use the vector at this end. The products are computed tile by
/// tile, so memory grows with the number of distances and not with the number of pairs.
AttentionBias* bias_by_vector(const Tensor& queries, const Tensor& vectors, std::int64_t lowest,
                              std::int64_t offset = 0);

/// Adds to the score of (i, j) the sum of the steps after key j, up to the query: the sum of x_l for l from j + 1 to
/// i + offset, from steps x [B, H, Tk, 1]; for a later key, minus the sum of the steps after the query. So the bias
/// is a number of the query minus a number of the key, and memory is linear in the length. The sums are in double
/// precision, and differences are taken from a key that is near, so that long sequences lose no digits. Queries must be
/// at positions of keys: Tq + offset <= Tk.
AttentionBias* bias_by_running_sum(const Tensor& steps, std::int64_t queries, std::int64_t offset = 0);

/// y_id = the sum of w_ij over the keys j at distance d, from w [..., Tq, Tk] to y [..., Tq, 2 clip + 1].
Tensor sum_by_distance(const Tensor& w, std::int64_t clip, std::int64_t offset = 0);

} // namespace heed::HEED_REAL
