// Streaming attention. It computes scores, weights and the weighted sum tile by tile, forward and backward. It never
// stores a [Tq, Tk] matrix, so memory grows linearly with the sequence length.
//
// Queries are [B, H, Tq, D], keys [B, Hk, Tk, D] and values [B, Hk, Tk, Dv]; all may be views. H is a multiple of Hk:
// each group of H / Hk consecutive query heads shares one head of keys and values (Ainslie et al. 2023, arXiv
// 2305.13245). Results are [B, H, Tq, Dv], as views of [B, Tq, H, Dv], so merging the heads needs no copy. A query that
// may attend to no key gives zeros and a zero gradient.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/row_rule.hpp"
#include "autograd/score_formula.hpp"
#include "autograd/attention_bias.hpp"

#include <optional>
#include <variant>

namespace heed::HEED_REAL {

/// s(q_i, k_j) = factor q'_i . k'_j. The queries q' [B, H, Tq, D] and the keys k' [B, Hk, Tk, D] are already
/// transformed.
struct DotProductForm {
  Tensor queries, keys;
  Real factor = 1;
};

/// The matrices that project queries and keys, for each query head: [H, Dq, D] and [H, Dk, D].
struct AdditiveMatrices {
  Tensor query, key;
};

/// s(q_i, k_j) = sum_d w_d tanh(q'_id + k'_jd), with w [H, D]. The queries q' [B, H, Tq, D] and the keys k' [B, Hk, Tk,
/// D] are already transformed, except for a multiplication with `matrices`, if there are any. The kernel multiplies for
/// one head at a time, and again in the backward pass, so neither the products nor their gradients are ever stored for
/// all heads. Correct for arguments of any size; slower for a head with an element of q' or k' above 43 in magnitude
/// (float64: 350).
struct AdditiveForm {
  Tensor queries, keys, weights;
  AdditiveMatrices matrices = {};
};

/// s(q_i, k_j) = -factor sum_d |q'_id - k'_jd|. The queries q' [B, H, Tq, D] and the keys k' [B, Hk, Tk, D] are already
/// transformed. Where two elements are equal, their gradient is 0.
struct DistanceForm {
  Tensor queries, keys;
  Real factor = 1;
};

/// The forms of scores that streaming attention supports; std::monostate: none.
using ScoreForm = std::variant<std::monostate, DotProductForm, AdditiveForm, DistanceForm>;

class MemoryGradients;

/// Keys and values, packed for the kernels once before the first query. It serves callers that attend to the same keys
/// and values in many calls with few queries each, as a recurrent decoder does at every step. `pack_memory` makes it,
/// in the tape's memory.
struct PackedMemory {
  const Real* key_tiles = nullptr;   ///< dot-product form: [B, Hk] of tiles, times `factor`
  const Real* value_tiles = nullptr; ///< for the dot-product form's backward pass; null without recording
  Real factor = 0;
  /// Additive form: 2 k by columns, [B, Hk, D, padded keys]. Its gradient is the gradient of the keys, which is
  /// transposed back once.
  Tensor key_columns;
  const Real* key_exponentials = nullptr; ///< [B, Hk, D, padded keys]
  const Real* key_bounds = nullptr;       ///< [B, Hk, 2, D]
  /// [B, Hk, Dv, padded keys], for the additive form's backward pass; null without recording
  const Real* value_columns = nullptr;
  /// Collects the gradients of the values, and in the dot-product form also of the keys, from calls with one query. It
  /// adds them for several calls at once (kernels/memory_gradients.hpp). Null: no gradient is required.
  MemoryGradients* gradients = nullptr;
};

/// Packs keys [B, Hk, Tk, D] and values [B, Hk, Tk, Dv]. Of the form's queries, only the number of heads matters. Calls
/// that receive the result must have the same keys and values. Attention gives the same bits with and without packing.
/// Returns null if packing is impossible, because the keys of the additive form are the values themselves.
const PackedMemory* pack_memory(const DotProductForm& form, const Tensor& v);
const PackedMemory* pack_memory(const AdditiveForm& form, const Tensor& v);

struct StreamingOptions {
  Mask mask;
  /// Dropout of the weights. Element (b, h, i, j) depends only on `key` and on `first` plus its row-major index, as in
  /// dropout() of the whole [B, H, Tq, Tk].
  double dropout = 0;
  RandomKey key{};
  std::uint64_t first = 0;
  AttentionBias* bias = nullptr;   ///< added to the scores; null: no bias
  ScoreFormula* formula = nullptr; ///< changes the biased scores and may hide pairs; null: no formula
  /// Receives the weights before dropout, without a gradient: [B, H, Tq, Tk], row-major. Null: weights are not
  /// requested.
  Real* weights = nullptr;
  /// The packed keys and values; null: the call packs them. Only attend_softmax uses it, and only without `matrices`.
  const PackedMemory* memory = nullptr;
  /// Adds Gumbel noise to the finished scores, as gumbel_noise of the whole [B, H, Tq, Tk] would. Only attend_rows uses
  /// it.
  struct Noise {
    RandomKey key;
    std::uint64_t first;
  };
  std::optional<Noise> noise = {};
};

/// y_i = sum_j softmax_j(f(s_ij + bias_ij)) v_j for scores of a form, over the keys that mask and formula allow. It
/// works in tiles as FlashAttention does (Dao et al. 2022, arXiv 2205.14135; Rabe and Staats 2021, arXiv 2112.05682).
/// The forward pass stores the log-sum-exp of each row, and the backward pass recomputes the weights from it.
Tensor attend_softmax(const DotProductForm& form, const Tensor& v, const StreamingOptions& options = {});
Tensor attend_softmax(const AdditiveForm& form, const Tensor& v, const StreamingOptions& options = {});
/// For distances, softmax is a row rule of attend_rows.
Tensor attend_softmax(const DistanceForm& form, const Tensor& v, const StreamingOptions& options = {});

/// The same, with weights from any row rules. For a few queries at a time, the scores of all their keys are in memory.
/// The forward pass stores one value of each row (RowRule::weights). The backward pass computes the weights again
/// from it.
Tensor attend_rows(const DotProductForm& form, const Tensor& v, const RowRules& rules,
                   const StreamingOptions& options = {});
Tensor attend_rows(const AdditiveForm& form, const Tensor& v, const RowRules& rules,
                   const StreamingOptions& options = {});
Tensor attend_rows(const DistanceForm& form, const Tensor& v, const RowRules& rules,
                   const StreamingOptions& options = {});

/// x_1 - lambda x_2 for each head, where x_1 and x_2 are two adjacent heads of x, [B, 2 H, T, D]: the two maps of a
/// head of differential attention, or the results of these maps. lambda: [B or 1, H or 1, T or 1, 1]. The result is
/// [B, H, T, D], as a view of [B, T, H, D] if x is a view of [B, T, 2 H, D].
Tensor difference_of_maps(const Tensor& x, const Tensor& lambda);

} // namespace heed::HEED_REAL
