// Numbers by distance, in attention.
//
// Key j is at distance j - (i + offset) from query i, and distances beyond -clip and clip count as these (Shaw,
// Uszkoreit and Vaswani 2018, arXiv 1803.02155, section 3.2); distance d stands at column d + clip of 2 clip + 1.
#pragma once

#include "autograd/attention_bias.hpp"

namespace heed::HEED_REAL {

/// What is added to the score of (i, j) is the number of its distance: numbers [B or 1, H or 1, Tq or 1, 2 clip + 1].
/// With that, a bias by head and distance, fixed or learned, is a tensor.
AttentionBias* bias_by_distance(const Tensor& numbers, std::int64_t offset = 0);

/// What is added to the score of (i, j) is q_i . a(distance): queries [B, H, Tq, D], vectors a [H or 1, n, D] of
/// distances from `lowest` on; distances beyond an end have that end's. Products are made tile by tile, so that memory
/// grows with the distances and not with the pairs.
AttentionBias* bias_by_vector(const Tensor& queries, const Tensor& vectors, std::int64_t lowest,
                              std::int64_t offset = 0);

/// y_id = the sum of w_ij over the keys j at distance d: w [..., Tq, Tk] to y [..., Tq, 2 clip + 1].
Tensor sum_by_distance(const Tensor& w, std::int64_t clip, std::int64_t offset = 0);

} // namespace heed::HEED_REAL
