// Products of queries and keys with a Householder matrix of each token between them, as PaTH attention has them.
#pragma once

#include "autograd/ops.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// The matrices H_t = I - b_t w_t w_t^T of the last R keys' tokens. With |w_t| = 1 and b_t from 0 to 2, no vector
/// becomes longer: 0 is the identity, 1 a projection, 2 a reflection. The matrices of earlier tokens are the identity.
struct HouseholderMatrices {
  Tensor directions{}; ///< w [B, H, R, D]; no tape: there are no matrices
  Tensor strengths{};  ///< b [B, H, R, 1]
  Tensor blocks{};     ///< householder_blocks of these; if empty, they are computed

  explicit operator bool() const { return directions.tape != nullptr; }
};

/// What later queries need of a block of 64 tokens, for all blocks but the last one, [B, H, blocks, 64 + D, D]: the
/// keys k_j multiplied by the block's matrices after j, then the product of all its matrices. Empty if there is one
/// block only. Calls with some of the queries each can share the blocks.
Tensor householder_blocks(const Tensor& k, const HouseholderMatrices& matrices);

/// y_ij = q_i^T H_i H_(i-1) ... H_(j+1) k_j for keys j at or before query i, and 0 for later ones (PaTH attention:
/// Yang et al. 2025, arXiv 2505.16381): q [B, H, Tq, D], k [B, H, Tk, D], y [B, H, Tq, Tk]. The last query is at the
/// position of the last key.
///
/// The queries go from the last block to the first. R has the queries multiplied by the matrices of later blocks. For
/// queries after a block, Y = R K'^T and R' = R P, with its keys K' and product P of `householder_blocks`. For queries
/// in the block, with its W, K and b, and stril, the part below the diagonal:
///   X (I + stril(diag(b) W W^T)) = R W^T     Y = R K^T - X stril(diag(b) W K^T)     R' = R - X diag(b) W
/// Entry (i, t) of X is w_t . H_(t+1) ... H_i q_i; it is 0 for t > i. The backward pass needs R before each block, Tq
/// Tk D / 64 numbers for each head. Results have the same bits for any number of threads, and for a sequence in any
/// batch.
Tensor householder_products(const Tensor& q, const Tensor& k, const HouseholderMatrices& matrices);

/// H_n ... H_(j+1) k_j for each key j, with n the last one, without a gradient: k and the result are [B, H, Tk, D].
/// With these keys, products with later queries need no matrix of the tokens up to n.
Tensor householder_keys(const Tensor& k, const HouseholderMatrices& matrices);

} // namespace heed::HEED_REAL
