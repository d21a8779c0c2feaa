// ScoreFormula: evaluates a user's formula that changes attention scores or masks them. It works tile by tile, forward
// and backward, so memory grows with the sequence lengths and not with their product.
#pragma once

#include "autograd/formula_program.hpp"
#include "autograd/mask.hpp"
#include "autograd/attention_bias.hpp"

#include <span>

namespace heed::HEED_REAL {

/// The batch and the sizes that a formula is evaluated for.
struct FormulaSizes {
  std::int64_t batch, heads, queries, keys;
  std::int64_t width; ///< of a head's queries
  /// of the whole sequence, if these queries are a part of it; 0: these and those before the mask's offset are all
  std::int64_t all_queries = 0;
  std::int64_t all_keys = 0;       ///< likewise for keys; 0: these are all
  std::int64_t first_sequence = 0; ///< the index of batch entry 0 in the whole batch; the others follow
  /// the index of each batch entry; null: consecutive, starting at `first_sequence`
  const std::int64_t* sequences = nullptr;
  /// its offset is the position of query 0; the formula's results for pairs that it hides are not used
  Mask mask{};
};

/// The evaluation of a formula in one attention of one pass, in the tape's memory. Each tile lies within one strip of
/// `strip_rows` queries and one block of `key_tile` keys.
class ScoreFormula {
public:
  /// Columns c0 .. c1 - 1 of a tile, counted in SIMD vectors, contain all pairs of a strip of queries that the formula
  /// allows. `all`: the formula allows all pairs in these columns.
  struct View {
    std::uint8_t c0 = 0, c1 = 0;
    bool all = false;
  };

  ScoreFormula(Tape& tape, const FormulaProgram& program, std::span<const Tensor> parameters,
               const FormulaSizes& sizes);

  bool requires_grad() const { return requires_grad_; }
  bool changes_scores() const { return program_->score >= 0; }
  /// Does `pull` need the scores that `apply` received?
  bool wants_before() const { return changes_scores() && !adds_; }
  bool masks() const { return program_->mask >= 0; }

  /// Call it before the heads of a forward or a backward pass: it takes memory and finds the memory of the gradients.
  void begin(Tape& tape, Tape::Scratch& scratch, bool for_backward);
  /// Call `begin_head` before the tiles of a head, and `end_head` after the tiles of a head in a backward pass.
  void begin_head(std::int64_t b, std::int64_t h);
  void end_head();

  /// The part of the tile with key j that the formula allows for the strip with query i.
  View view(std::int64_t i, std::int64_t j) const;
  /// Replaces all scores s of a tile by f(s).
  void apply(const ScoreTile& tile, Real* scores);
  /// Sets scores to `value` where the mask hides a pair.
  void hide(const ScoreTile& tile, Real* scores, Real value);
  /// Sets `allowed` to 0 where the mask hides a pair. Its rows have the tile's stride.
  void hide(const ScoreTile& tile, std::uint8_t* allowed);
  /// Replaces the gradient with respect to f(s) by the gradient with respect to s. `before` has the values of s, in the
  /// tile's layout (null if `wants_before` is false). It also adds to the parameters' gradients. A pair whose gradient
  /// is 0 contributes nothing, whatever value the formula has there.
  void pull(const ScoreTile& tile, const Real* before, Real* grad_scores);

private:
  struct Operand;
  struct Sink;

  const FormulaInstruction& at(std::int32_t k) const { return program_->instructions[static_cast<std::size_t>(k)]; }
  std::int32_t count() const { return static_cast<std::int32_t>(program_->instructions.size()); }
  std::int64_t extent(FormulaAxis axis) const;
  // The values of instruction k, or the memory of their gradients, as seen by a computation on the axis `on`.
  Operand operand(std::int32_t k, FormulaAxis on, const ScoreTile& tile, const Real* scores) const;
  Sink sink(std::int32_t k, FormulaAxis on, const ScoreTile& tile) const;
  void read_source(const FormulaInstruction& x, Real* y) const;
  // For each query, the number of keys that it may attend to.
  void count_seen(Real* y) const;
  bool seen_by_head() const;
  void compute(std::int32_t k, const ScoreTile& tile, const Real* scores, Real* to, std::int64_t row,
               Real factor = 1) const;
  void compute_pairs(const ScoreTile& tile, const Real* scores, bool FormulaInstruction::*whose,
                     std::int32_t but = -1) const;
  Real number_of(std::int32_t k) const { return k < 0 ? Real{1} : *values_[k]; }
  template <class F> void give(std::int32_t to, FormulaAxis on, const ScoreTile& tile, F&& derivative);
  void pull_back(std::int32_t k, const ScoreTile& tile, const Real* scores, const Operand& dy, Real factor = 1);
  Real* list_of(std::int32_t parameter, Real* numbers) const;
  void look();
  View look_at(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t c0, std::int64_t c1) const;

  const FormulaProgram* program_;
  const Tensor* parameters_;
  FormulaSizes sizes_;
  std::int64_t b_ = 0, h_ = 0;
  bool requires_grad_ = false, for_backward_ = false, fresh_ = true, looked_ = false;
  // is f(s) = s + t or s - t, where t's gradient is summed outside of pairs or is not needed?
  bool adds_ = false;
  ScoreTile applied_{}; // the tile whose pairs' values are still in `values_`
  // of each instruction: one value, the values along its axis, or the values of a tile's pairs
  Real** values_ = nullptr;
  Real** gradients_ = nullptr; // likewise the gradients of instructions that have one
  bool* given_ = nullptr;      // of each instruction on pairs: has its gradient received a first contribution?
  Real** parameter_gradients_ = nullptr;
  View* views_ = nullptr; // [strips, tiles]
  std::int32_t* counts_ = nullptr;
};

ScoreFormula* keep_formula(Tape& tape, const FormulaProgram& program, std::span<const Tensor> parameters,
                           const FormulaSizes& sizes);

/// f(scores) for attention that stores all scores: [B, H, Tq, Tk]. Without a formula, it returns the scores themselves.
Tensor apply_formula(const Tensor& scores, ScoreFormula* formula);
/// The mask combined with the formula's mask, for [B, H, Tq, Tk]. Without a formula, it returns the mask itself.
Mask with_formula(Tape& tape, const Mask& mask, ScoreFormula* formula, const FormulaSizes& sizes);

} // namespace heed::HEED_REAL
