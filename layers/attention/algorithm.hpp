// The input of an attention computation (AttentionProblem), and the interface of the algorithms that compute it
// (AttentionAlgorithm).
#pragma once

#include "autograd/householder.hpp"
#include "autograd/relative.hpp"
#include "layers/mixer.hpp"
#include "layers/attention/formula/attention_formula.hpp"
#include "layers/attention/key_selection.hpp"
#include "layers/attention/normalizer.hpp"
#include "layers/attention/score.hpp"
#include "layers/position/relative.hpp"

#include <memory>
#include <span>

namespace heed::HEED_REAL {

class AttentionPart;

/// The inputs and settings of one attention computation, independent of the algorithm:
///   y_i = sum_j w_ij v_j with w_i = normaliser(f(s(q_i, k_1) + bias_i1), f(s(q_i, k_2) + bias_i2), ...)
/// Parts of attention that act on pairs change the arguments of f, and the weights.
struct AttentionProblem {
  Tensor queries;             ///< [B, H, Tq, Dq], rotated by the position, as the keys are
  Tensor unrotated_queries{}; ///< the queries before rotation, for the position's bias
  Tensor keys;                ///< [B, Hk, Tk, Dk]: H is a multiple of Hk; adjacent heads share keys
  Tensor values;              ///< [B, Hk, Tk, Dv]
  ScoreForm form; ///< the form of the score of these queries and keys; if empty, `score` computes the scores
  const Score* score = nullptr;
  const RelativePosition* position = nullptr;              ///< adds to scores and weighted sums; null: none
  Tensor forget{};                                         ///< as AttentionInputs::forget; empty: none
  HouseholderMatrices householder{};                       ///< as AttentionInputs::householder
  const AttentionFormula* formula = nullptr;               ///< f, and the pairs that it masks; null: none
  std::span<const std::unique_ptr<AttentionPart>> parts{}; ///< those of every attention, which act on pairs
  Mask mask{};
  const KeySelection* selection = nullptr; ///< makes the weights of pairs that it chooses; null: none
  Tensor gates{};                          ///< as AttentionInputs::gates; empty: none
  const Normalizer* normalizer = nullptr;
  const PackedMemory* memory = nullptr; ///< these keys and values, packed for many calls; null: not packed
  const Tensor* factors = nullptr;      ///< [B or 1, H or 1, Tq, Tk]: multiplied with the weights; null: none
  double dropout = 0;                   ///< probability, on the weights
  Tensor lambda{};                      ///< as AttentionInputs::lambda; no algorithm uses it
  Tensor* weights = nullptr;            ///< receives the weights before dropout, [B, H, Tq, Tk]; null: not wanted
  bool differentiable_weights = false;  ///< if true, gradients flow through `weights`, and nothing streams
  std::int64_t unseen_queries = 0, unseen_keys = 0; ///< the first ones, which observers do not see
  std::int64_t rows = 0; ///< composed from operations: queries per block; 0: chosen automatically
  /// If this is a part of a larger problem: its batch entry and the lengths of the whole; 0: this is the whole.
  std::int64_t entry = 0, all_queries = 0, all_keys = 0;

  /// Does a selection make the weights?
  bool selects() const { return selection && selection->acts(keys.shape[2], mask); }
  /// The bias that the position and the forget gates add to the scores; null: none.
  AttentionBias* bias(Pass& pass) const {
    AttentionBias* const of_position = position ? position->bias(pass, unrotated_queries, keys.shape[2], mask)
                                                : nullptr;
    if (!forget.tape) return of_position;
    return sum_of(pass.tape(), of_position, bias_by_running_sum(forget, queries.shape[2], mask.offset));
  }
  /// The weights or scores x [B, H, Tq, Tk] that observers see; empty if there are none.
  Tensor seen(const Tensor& x) const {
    const std::int64_t rows = x.shape[2] - unseen_queries, columns = x.shape[3] - unseen_keys;
    if (rows <= 0 || columns <= 0) return {};
    const Tensor some = unseen_queries == 0 ? x : slice(x, 2, unseen_queries, rows);
    return unseen_keys == 0 ? some : slice(some, 3, unseen_keys, columns);
  }
  /// The shape that the formula is evaluated for.
  FormulaSizes formula_sizes() const {
    return {.batch = queries.shape[0],
            .heads = queries.shape[1],
            .queries = queries.shape[2],
            .keys = keys.shape[2],
            .width = queries.shape[3],
            .all_queries = all_queries,
            .all_keys = all_keys,
            .first_sequence = entry,
            .mask = mask};
  }
};

/// A way to compute attention. The first algorithm in the table that serves a problem is used. The last one serves
/// every problem.
struct AttentionAlgorithm {
  bool (*serves)(const AttentionProblem& problem);
  /// The result, [B, H, Tq, Dv].
  Tensor (*run)(Pass& pass, const AttentionProblem& problem);
  /// Only for an algorithm with a decoding state of its own (otherwise null; keys and values are stored). `start` makes
  /// an empty state; it is called if the algorithm serves the first step. `step` computes the result for queries, keys
  /// and values at the positions after those that the state has seen.
  std::unique_ptr<MixerState> (*start)() = nullptr;
  Tensor (*step)(Pass& pass, const AttentionProblem& problem, MixerState& state) = nullptr;
};

/// Passes the normaliser's input to the observer (Observer::scores), whichever algorithm computes the result. The
/// scores are composed from operations a second time, in blocks of queries if there are many.
void show_scores(Pass& pass, const AttentionPlace& place, const AttentionProblem& problem);

/// Returns the score's own algorithm if it serves the problem, otherwise the first in the table of algorithms.cpp that
/// does.
const AttentionAlgorithm& algorithm_for(const AttentionProblem& problem);

} // namespace heed::HEED_REAL
