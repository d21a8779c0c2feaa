// A formula for scores or for a mask as a list of operations, ready for the kernels (layers/attention/formula makes it).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace heed {

/// What a value varies with; it is worked out once for all else. `distance` is that of a key from its query, j - i.
enum class FormulaAxis : std::uint8_t { head, row, column, distance, pair };

enum class FormulaOp : std::uint8_t {
  number,      ///< `number`
  score,       ///< s
  position,    ///< of the axis: the query's on rows, the key's on columns, j - i on distances
  batch,       ///< b
  head,        ///< h
  heads,       ///< how many there are
  width,       ///< of a head's queries
  queries,     ///< how many there are, with those of earlier steps
  keys,        ///< how many the row has, padding left out
  parameter,   ///< a parameter's number for this head
  by_distance, ///< a parameter's number for this head and distance; beyond the furthest, that one's
  element,     ///< of a parameter's list for this head: the one whose number `a` is, rounded down, ends for beyond
  negative,    ///< of one operand, a, from here on
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
  negation, ///< of a truth
  add,      ///< of two, a and b
  subtract,
  multiply,
  divide,
  power,
  remainder, ///< a - b floor(a / b)
  min,
  max,
  less, ///< truths are 1 and 0
  less_equal,
  equal,
  unequal,
  conjunction,
  disjunction,
  choice ///< of three: b where a is true, c elsewhere
};

/// An operation that computes its value from operands.
struct FormulaOperation {
  FormulaOp op;
  std::string_view function; ///< as which formulas call it; empty: it has a sign, or is in no formula
  int operands;
  bool gradient;       ///< by its operands; comparisons, floor and truths have none
  int most = operands; ///< arguments of the function, which are folded from the left
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

/// Null for what has no operands, and for places of lists.
constexpr const FormulaOperation* formula_operation(FormulaOp op) {
  for (const FormulaOperation& operation : formula_operation_list)
    if (operation.op == op) return &operation;
  return nullptr;
}

/// One operation of a program; its operands are numbers of instructions before it.
struct FormulaInstruction {
  FormulaOp op{};
  FormulaAxis axis = FormulaAxis::head; ///< what its value varies with
  std::int32_t a = -1, b = -1, c = -1;
  std::int32_t parameter = -1;
  std::int32_t factor = -1; ///< of one operand: a times this head's number is what it is of; -1: a
  double number = 0;
  bool differentiable = false; ///< does it depend on s or on a parameter that is learned, smoothly?
  bool for_mask = false;       ///< does the mask need it?
  bool for_score = false;      ///< does the score?

  bool operator==(const FormulaInstruction&) const = default;
};

/// Every operand varies with nothing, or with what its instruction varies with; one of a pair may vary with anything.
struct FormulaProgram {
  std::vector<FormulaInstruction> instructions;
  std::int32_t score = -1;  ///< the instruction that is the score; -1: it stays as it is
  std::int32_t factor = -1; ///< the score is that times this head's number; -1: as it is
  std::int32_t mask = -1;   ///< the one that says whether a query may attend to a key; -1: all may
  bool by_head = false;     ///< does anything vary with the head or the batch entry?
  bool mask_by_head = false;
};

} // namespace heed
