// Streaming attention: scores, weights and the weighted sum tile by tile, so that no [Tq, Tk] matrix is ever held and
// memory grows linearly with the sequence, forward and backward.
//
// Queries are [B, H, Tq, D], keys [B, Hk, Tk, D] and values [B, Hk, Tk, Dv], any views. H is a multiple of Hk: so many
// heads of queries, one behind the other, share a head of keys and values (Ainslie et al. 2023, arXiv 2305.13245).
// Results are [B, H, Tq, Dv], views of [B, Tq, H, Dv], so that heads merge without a copy. A row that may attend to
// nothing gives zeros and a zero gradient.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/row_policy.hpp"
#include "autograd/score_formula.hpp"
#include "autograd/attention_bias.hpp"

#include <optional>
#include <variant>

namespace heed::HEED_REAL {

/// s(q_i, k_j) = factor q'_i . k'_j, where queries [B, H, Tq, D] and keys [B, Hk, Tk, D] have been transformed one by
/// one.
struct DotProductForm {
  Tensor queries, keys;
  Real factor = 1;
};

/// What projects queries and keys for each head of queries: [H, Dq, D] and [H, Dk, D].
struct AdditiveMatrices {
  Tensor query, key;
};

/// s(q_i, k_j) = sum_d w_d tanh(q'_id + k'_jd), where queries [B, H, Tq, D] and keys [B, Hk, Tk, D] have been
/// transformed one by one; w [H, D]. With matrices they still are to be multiplied with them, which the kernel does for
/// one head at a time, and again in the backward pass, so that neither the products nor their gradients are ever held
/// for all heads. Right for arguments of any size; slower for heads with one beyond 43 (float64: 350).
struct AdditiveForm {
  Tensor queries, keys, weights;
  AdditiveMatrices matrices = {};
};

/// The forms of scores that stream, or none of them.
using ScoreForm = std::variant<std::monostate, DotProductForm, AdditiveForm>;

class MemoryGradients;

/// What the kernels make of keys and values before the first query meets them, for those who attend to the same ones call
/// after call, with few queries each: a recurrent decoder does so at every step. Made by pack_memory, on the tape.
struct PackedMemory {
  const Real* key_tiles = nullptr;   ///< of the inner form: [B, Hk] of tiles, times `factor`
  const Real* value_tiles = nullptr; ///< for the inner form's backward pass; null without recording
  Real factor = 0;
  /// Of the pairwise form: 2 k by columns, [B, Hk, D, padded keys]. Its gradient is that of the keys, which so are turned
  /// back once.
  Tensor key_columns;
  const Real* key_exponentials = nullptr; ///< [B, Hk, D, padded keys]
  const Real* key_bounds = nullptr;       ///< [B, Hk, 2, D]
  const Real* value_columns = nullptr;    ///< [B, Hk, Dv, padded keys], for its backward pass; null without recording
  /// What calls with one query add to the gradients of the values, and, in the inner form, of the keys, until it is added
  /// for some of them at once (kernels/memory_gradients.hpp); null: nothing wants one.
  MemoryGradients* gradients = nullptr;
};

/// Of keys [B, Hk, Tk, D] and values [B, Hk, Tk, Dv]. Of the forms' queries only the number of heads matters. Calls that are given what it
/// returns must have the same keys and values. Bits are the same with and without. Null where that can't be: where keys of
/// the pairwise form are the values themselves.
const PackedMemory* pack_memory(const DotProductForm& form, const Tensor& v);
const PackedMemory* pack_memory(const AdditiveForm& form, const Tensor& v);

struct StreamingOptions {
  Mask mask;
  /// Dropout of the weights: element (b, h, i, j) is decided by (key, first + its row-major number) alone, as dropout()
  /// of the whole [B, H, Tq, Tk] would.
  double dropout = 0;
  RandomKey key{};
  std::uint64_t first = 0;
  AttentionBias* bias = nullptr;   ///< added to the scores; null: nothing
  ScoreFormula* formula = nullptr; ///< what becomes of the sums, and what it hides; null: nothing
  /// Where the weights go, before dropout, without a gradient: [B, H, Tq, Tk], row-major; null: they are not wanted.
  Real* weights = nullptr;
  /// Of the form's keys and the values; null: they are packed by the call. Taken by attend_softmax alone, and not where
  /// matrices project.
  const PackedMemory* memory = nullptr;
  /// Gumbel noise is added to the finished scores, as gumbel_noise of the whole [B, H, Tq, Tk] would. Taken by
  /// attend_rows alone.
  struct Noise {
    RandomKey key;
    std::uint64_t first;
  };
  std::optional<Noise> noise = {};
};

/// y_i = sum_j softmax_j(f(s_ij + terms_ij)) v_j for scores of a form, over the keys that mask and formula let through.
/// Tiles as in FlashAttention (Dao et al. 2022, arXiv 2205.14135; Rabe and Staats 2021, arXiv 2112.05682): the forward
/// pass keeps the log-sum-exp of each row, from which the backward pass computes the weights anew.
Tensor attend_softmax(const DotProductForm& form, const Tensor& v, const StreamingOptions& options = {});
Tensor attend_softmax(const AdditiveForm& form, const Tensor& v, const StreamingOptions& options = {});

/// The same with weights by any rules for rows: some queries at a time have the scores of all their keys in memory, and
/// nothing is kept of a row, so that the rules are asked again in the backward pass.
Tensor attend_rows(const DotProductForm& form, const Tensor& v, const RowRules& rules,
                   const StreamingOptions& options = {});
Tensor attend_rows(const AdditiveForm& form, const Tensor& v, const RowRules& rules,
                   const StreamingOptions& options = {});

} // namespace heed::HEED_REAL
