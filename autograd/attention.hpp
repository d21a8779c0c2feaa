// Streaming attention: scores, softmax and the weighted sum in one pass over tiles, so that no [Tq, Tk] matrix is ever
// held and memory grows linearly with the sequence, forward and backward.
#pragma once

#include "autograd/ops.hpp"

namespace heed::HEED_REAL {

struct StreamingOptions {
  Mask mask;
  /// Dropout of the weights: element (b, h, i, j) is decided by (key, first + its row-major number) alone, as dropout()
  /// of the whole [B, H, Tq, Tk] would.
  double dropout = 0;
  RandomKey key{};
  std::uint64_t first = 0;
};

/// y_i = sum_j softmax_j(factor q_i . k_j) v_j for each batch entry and head:
/// q [B, H, Tq, D], k [B, H, Tk, D], v [B, H, Tk, Dv] (any views); y [B, H, Tq, Dv], a view of [B, Tq, H, Dv], so that
/// heads merge without a copy. A row that may attend to nothing gives zeros and a zero gradient.
/// Tiles as in FlashAttention (Dao et al. 2022, arXiv 2205.14135; Rabe and Staats 2021, arXiv 2112.05682): the forward
/// pass keeps the log-sum-exp of each row, from which the backward pass computes the weights anew.
Tensor attend_inner(const Tensor& q, const Tensor& k, const Tensor& v, Real factor,
                    const StreamingOptions& options = {});

/// The same for the pairwise form: scores s_ij = sum_d w_d tanh(q_id + k_jd), with w [H, D], one row for each head.
/// Right for arguments of any size; slower for heads with one beyond 43 (float64: 350).
Tensor attend_pairwise(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& v,
                       const StreamingOptions& options = {});

/// What projects queries and keys for each head: [H, Dq, D] and [H, Dk, D].
struct PairwiseMatrices {
  Tensor query, key;
};

/// The same of q Wq and k Wk, with q [B, H, Tq, Dq] and k [B, H, Tk, Dk]. One head's projections are made at a time, and
/// again in the backward pass, so that neither they nor their gradients are ever held for all heads.
Tensor attend_pairwise(const Tensor& q, const Tensor& k, const PairwiseMatrices& matrices, const Tensor& w,
                       const Tensor& v, const StreamingOptions& options = {});

} // namespace heed::HEED_REAL
