// FormulaProgram: a formula for scores or for a mask, as a list of operations that the kernels execute.
// layers/attention/formula compiles it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace heed {

/// The axis along which a value varies. A value is computed once for each position on its axis. `head` is constant
/// within a head. `distance` is j - i, from query i to key j.
enum class FormulaAxis : std::uint8_t { head, row, column, distance, pair };

enum class FormulaOp : std::uint8_t {
  number,       ///< the constant `number`
  score,        ///< s
  position,     ///< by axis: the query's position for rows, the key's for columns, j - i for distances
  batch,        ///< b, the index of the batch entry
  head,         ///< h
  heads,        ///< the number of heads
  width,        ///< the width of a head's queries
  queries,      ///< the number of queries, including earlier steps, without padding
  keys,         ///< the number of keys, without padding
  seen,         ///< the number of keys that the query may attend to under all masks, the formula's included; by row
  segment,      ///< by axis: the segment of the query's token for rows, of the key's for columns
  patch_row,    ///< by axis: the row of the query's patch, or of the key's, with `number` patches in a row
  patch_column, ///< likewise the column
  parameter,    ///< a parameter's value for this head
  by_distance,  ///< a parameter's value for this head and distance; distances beyond the furthest one use its value
  element,      ///< an element of a parameter's list for this head, at index floor(a), clamped to the list
  negative,     ///< from here to `negation`: one operand, a
  reciprocal,
  abs,
  exp,
  log,
  sqrt,
  tanh,
  sigmoid,
  relu,
  floor,
  sin,
  cos,
  negation, ///< logical not
  add,      ///< from here to `disjunction`: two operands, a and b
  subtract,
  multiply,
  divide,
  power,
  remainder, ///< a - b floor(a / b)
  min,
  max,
  less, ///< from here to `disjunction`: the result is 1 (true) or 0 (false)
  less_equal,
  equal,
  unequal,
  conjunction,
  disjunction,
  choice ///< three operands: b where a is true, c elsewhere
};

/// An operation that computes its value from operands.
struct FormulaOperation {
  FormulaOp op;
  std::string_view function; ///< its name in formulas; empty: formulas write it as an operator, or cannot use it
  int operands;
  bool gradient;       ///< with respect to its operands; comparisons, floor and logical operations have none
  int most = operands; ///< the most arguments of the function; more than two are folded from the left
};

inline constexpr int most_arguments = 64;
inline constexpr FormulaOperation formula_operation_list[] = {
    {FormulaOp::negative, "", 1, true},
    {FormulaOp::reciprocal, "", 1, true},
    {FormulaOp::abs, "abs", 1, true},
    {FormulaOp::exp, "exp", 1, true},
    {FormulaOp::log, "log", 1, true},
    {FormulaOp::sqrt, "sqrt", 1, true},
    {FormulaOp::tanh, "tanh", 1, true},
    {FormulaOp::sigmoid, "sigmoid", 1, true},
    {FormulaOp::relu, "relu", 1, true},
    {FormulaOp::floor, "floor", 1, false},
    {FormulaOp::sin, "sin", 1, true},
    {FormulaOp::cos, "cos", 1, true},
    {FormulaOp::negation, "", 1, false},
    {FormulaOp::add, "", 2, true},
    {FormulaOp::subtract, "", 2, true},
    {FormulaOp::multiply, "", 2, true},
    {FormulaOp::divide, "", 2, true},
    {FormulaOp::power, "", 2, true},
    {FormulaOp::remainder, "", 2, true},
    {FormulaOp::min, "min", 2, true, most_arguments},
    {FormulaOp::max, "max", 2, true, most_arguments},
    {FormulaOp::less, "", 2, false},
    {FormulaOp::less_equal, "", 2, false},
    {FormulaOp::equal, "", 2, false},
    {FormulaOp::unequal, "", 2, false},
    {FormulaOp::conjunction, "", 2, false},
    {FormulaOp::disjunction, "", 2, false},
    {FormulaOp::choice, "where", 3, true},
};

/// Null for operations without operands, and for `element`.
constexpr const FormulaOperation* formula_operation(FormulaOp op) {
  for (const FormulaOperation& operation : formula_operation_list)
    if (operation.op == op) return &operation;
  return nullptr;
}

/// One operation of a program. Its operands are indices of earlier instructions.
struct FormulaInstruction {
  FormulaOp op{};
  FormulaAxis axis = FormulaAxis::head; ///< the axis along which its value varies
  std::int32_t a = -1, b = -1, c = -1;
  std::int32_t parameter = -1;
  /// for one operand: the operand is a times the value of this instruction for the head; -1: a
  std::int32_t factor = -1;
  double number = 0;
  bool differentiable = false; ///< does it depend smoothly on s or on a learned parameter?
  bool for_mask = false;       ///< does the mask use it?
  bool for_score = false;      ///< does the score use it?

  bool operator==(const FormulaInstruction&) const = default;
};

/// Each operand of an instruction is constant within a head or varies along the instruction's axis. An operand of a
/// `pair` instruction may vary along any axis.
struct FormulaProgram {
  std::vector<FormulaInstruction> instructions;
  std::int32_t score = -1;  ///< index of the instruction that computes the score; -1: the score is unchanged
  std::int32_t factor = -1; ///< the score is multiplied by this instruction's value for the head; -1: not multiplied
  std::int32_t mask = -1;   ///< index of the instruction that says whether a query may attend to a key; -1: all may
  bool by_head = false;     ///< does any value vary with the head?
  bool by_entry = false;    ///< does any value vary with the batch entry?
  bool mask_by_head = false, mask_by_entry = false;
  bool segments = false; ///< does any value depend on segments?
};

} // namespace heed
