// Scores changed, and masks given, by a formula: computed tile by tile, forward and backward, so that memory grows with
// the lengths and not with their product.
#pragma once

#include "autograd/formula_program.hpp"
#include "autograd/mask.hpp"
#include "autograd/attention_bias.hpp"

#include <span>

namespace heed::HEED_REAL {

/// What a formula is evaluated for.
struct FormulaShape {
  std::int64_t batch, heads, queries, keys;
  std::int64_t width;           ///< of a head's queries
  std::int64_t all_queries = 0; ///< where these are some of more; 0: they, and those before the mask's offset, are all
  std::int64_t all_keys = 0;    ///< likewise; 0: they are all
  std::int64_t first_row = 0;   ///< the number of batch entry 0's row; the others follow
  const std::int64_t* rows = nullptr; ///< the number of each entry's row; null: `first_row` and those after it
  Mask mask{};                        ///< its offset is the position of query 0; what it hides, nobody asks for
};

/// A formula under way in one attention of one pass, in the tape's memory. Tiles lie within a strip of `strip_rows`
/// queries and a tile of `key_tile` keys.
class ScoreFormula {
public:
  /// Columns c0 .. c1 - 1 of a tile, in vectors, hold all that a strip of queries sees there by the formula; `all`: it
  /// sees all of these.
  struct View {
    std::uint8_t c0 = 0, c1 = 0;
    bool all = false;
  };

  ScoreFormula(Tape& tape, const FormulaProgram& program, std::span<const Tensor> parameters,
               const FormulaShape& shape);

  bool requires_grad() const { return requires_grad_; }
  bool changes_scores() const { return program_->score >= 0; }
  /// Does `pull` want to know what `apply` was given?
  bool wants_before() const { return changes_scores() && !adds_; }
  bool masks() const { return program_->mask >= 0; }

  /// Before the heads of a forward or a backward pass: memory, and where gradients go.
  void begin(Tape& tape, Tape::Scratch& scratch, bool for_backward);
  /// Before the tiles of a head, and behind those of a backward pass.
  void begin_head(std::int64_t b, std::int64_t h);
  void end_head();

  /// What the strip that holds query i sees of the tile that holds key j.
  View view(std::int64_t i, std::int64_t j) const;
  /// f(s) for all of a tile's scores.
  void apply(const ScoreTile& tile, Real* scores);
  /// `value` where the mask hides a pair.
  void hide(const ScoreTile& tile, Real* scores, Real value);
  /// 0 where the mask hides a pair; the tile's rows are as far apart here.
  void hide(const ScoreTile& tile, std::uint8_t* allowed);
  /// From the gradients by f(s) to those by s, of which `before` has the values in the tile's way (null where it is not
  /// wanted); adds to the parameters' gradients. A pair whose gradient is 0 gives none, whatever the formula comes to
  /// there.
  void pull(const ScoreTile& tile, const Real* before, Real* grad_scores);

private:
  struct Operand;
  struct Sink;

  const FormulaInstruction& at(std::int32_t k) const { return program_->instructions[static_cast<std::size_t>(k)]; }
  std::int32_t count() const { return static_cast<std::int32_t>(program_->instructions.size()); }
  std::int64_t extent(FormulaAxis axis) const;
  // Numbers of instruction k, or places for their gradients, as one sees them who computes on an axis.
  Operand operand(std::int32_t k, FormulaAxis on, const ScoreTile& tile, const Real* scores) const;
  Sink sink(std::int32_t k, FormulaAxis on, const ScoreTile& tile) const;
  void read_source(const FormulaInstruction& x, Real* y) const;
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
  FormulaShape shape_;
  std::int64_t b_ = 0, h_ = 0;
  bool requires_grad_ = false, for_backward_ = false, fresh_ = true, looked_ = false;
  bool adds_ = false;          // is f(s) = s + t, where t's gradients are gathered apart from pairs or not wanted?
  ScoreTile applied_{};        // whose pairs' numbers still stand in `values_`
  Real** values_ = nullptr;    // of each instruction: one number, those along its axis, or those of a tile's pairs
  Real** gradients_ = nullptr; // likewise its gradient, where it has one
  bool* given_ = nullptr;      // has a pairs' gradient its first part?
  Real** parameter_gradients_ = nullptr;
  View* views_ = nullptr; // [strips, tiles]
  std::int32_t* counts_ = nullptr;
};

ScoreFormula* keep_formula(Tape& tape, const FormulaProgram& program, std::span<const Tensor> parameters,
                           const FormulaShape& shape);

/// f(scores) for attention that has all scores: [B, H, Tq, Tk]. No formula: the scores themselves.
Tensor apply_formula(const Tensor& scores, ScoreFormula* formula);
/// The mask and the formula's together, for [B, H, Tq, Tk]. No formula: the mask itself.
Mask with_formula(Tape& tape, const Mask& mask, ScoreFormula* formula, const FormulaShape& shape);

} // namespace heed::HEED_REAL
