// What an attention has to compute, and the ways to compute it.
#pragma once

#include "layers/attention/formula/attention_formula.hpp"
#include "layers/attention/normalizer.hpp"
#include "layers/attention/score.hpp"
#include "layers/attention/talking_heads.hpp"
#include "layers/position/relative.hpp"

#include <memory>
#include <span>

namespace heed::HEED_REAL {

/// y_i = sum_j w_ij v_j with w_i = normaliser(f(s(q_i, k_1) + terms_i1), f(s(q_i, k_2) + terms_i2), ...), and nothing of
/// how. Heads that talk mix what f is applied to, and the weights.
struct AttentionProblem {
  Tensor queries;    ///< [B, H, Tq, Dq], turned by the position, as the keys are
  Tensor unturned{}; ///< the queries as they came, for what the position adds to scores
  Tensor keys;       ///< [B, Hk, Tk, Dk]: H is a multiple of Hk; heads next to each other share keys
  Tensor values;     ///< [B, Hk, Tk, Dv]
  ScoreForm form;    ///< of these queries and keys, or none: then `score` computes
  const Score* score = nullptr;
  const RelativePosition* position = nullptr; ///< what is added to scores and sums; null: nothing
  const AttentionFormula* formula = nullptr;  ///< f, and which pairs it hides; null: nothing
  const TalkingHeads* talking = nullptr;      ///< what is mixed between heads; null: nothing
  Mask mask{};
  const Normalizer* normalizer = nullptr;
  const PackedMemory* memory = nullptr; ///< of these keys and values, packed for many calls; null: they are not
  const Tensor* factors = nullptr;      ///< [B or 1, H or 1, Tq, Tk]: what weights are multiplied with; null: nothing
  double dropout = 0;                   ///< of the weights
  Tensor* weights = nullptr;           ///< gets [B, H, Tq, Tk], what values are summed with, before dropout; null: none
  bool differentiable_weights = false; ///< must gradients flow through these? Then nothing streams.
  std::int64_t rows = 0;               ///< compose, so many queries at a time; 0: as is best
  std::int64_t entry = 0, all_queries = 0, all_keys = 0; ///< of a part: where it is from; 0: it is all

  /// What the position adds to the scores.
  AttentionBias* bias(Pass& pass) const {
    return position ? position->bias(pass, unturned, keys.shape[2], mask) : nullptr;
  }
  /// What the formula is evaluated for.
  FormulaShape formula_shape() const {
    return {.batch = queries.shape[0],
            .heads = queries.shape[1],
            .queries = queries.shape[2],
            .keys = keys.shape[2],
            .width = queries.shape[3],
            .all_queries = all_queries,
            .all_keys = all_keys,
            .first_row = entry,
            .mask = mask};
  }
};

/// What a block of a model keeps between decoding steps: keys and values, or whatever an algorithm makes of them.
class AttentionState {
public:
  virtual ~AttentionState() = default;
  /// How many positions it has seen.
  virtual std::int64_t length() const = 0;
  /// Row i goes on from what row parents[i] was; their number may differ from the rows'.
  virtual void select(std::span<const std::int64_t> parents) = 0;
};

/// A way to compute attention. The first of the table that serves a problem is taken; the last serves all.
struct AttentionAlgorithm {
  bool (*serves)(const AttentionProblem& problem);
  /// [B, H, Tq, Dv].
  Tensor (*run)(Pass& pass, const AttentionProblem& problem);
  /// Where something else is kept between decoding steps than keys and values: an empty state, for steps of which it
  /// serves the first; and the result for queries, keys and values that come behind what the state has seen.
  std::unique_ptr<AttentionState> (*start)() = nullptr;
  Tensor (*step)(Pass& pass, const AttentionProblem& problem, AttentionState& state) = nullptr;
};

/// Tells those who look on what the normaliser is given (Observer::scores), whatever algorithm computes the result: it is
/// composed from operations once more, some queries at a time where there are many.
void show_scores(Pass& pass, const AttentionPlace& place, const AttentionProblem& problem);

/// The score's own algorithm, if it serves the problem, or the first of the table in algorithms.cpp that does.
const AttentionAlgorithm& algorithm_for(const AttentionProblem& problem);

} // namespace heed::HEED_REAL
